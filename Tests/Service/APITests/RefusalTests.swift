import FoundationEssentials
import PushRules
import TestIDs
import Testing

/// What cannot be meant is refused by the name of its field, before the database is asked.
@Suite("Content and parameters that cannot be used")
struct RefusalTests {
  struct Refusals: Sendable, CustomTestStringConvertible {
    enum Place { case body, query }
    enum Caller { case app, server, webhook }

    let method: String
    let path: String
    let place: Place
    let caller: Caller
    let status: Int
    let cases: [(String, String?)]

    init(
      _ method: String, _ path: String, _ place: Place, as caller: Caller, status: Int = 400,
      _ cases: [(String, String?)]
    ) {
      self.method = method
      self.path = path
      self.place = place
      self.caller = caller
      self.status = status
      self.cases = cases
    }

    var testDescription: String { "\(method) \(path) \(status)" }
  }

  private static let user = #""user_id":"ab000000-0000-4000-8000-000000000001""#

  /// `$id` is some id.
  private static let refusals: [Refusals] = [
    Refusals(
      "POST", "/v1/pushes", .body, as: .server,
      [
        (#"{"title":"a","body":""}"#, "user_id"), (#"{\#(user),"body":""}"#, "title"),
        (#"{\#(user),"title":"a"}"#, "body"), (#"{\#(user),"title":"","body":""}"#, "title"),
        (#"{\#(user),"title":"\#(String(repeating: "a", count: 257))","body":""}"#, "title"),
        (#"{\#(user),"title":"a","body":"\#(String(repeating: "a", count: 2049))"}"#, "body"),
        (#"{\#(user),"title":"a","body":"\#(String(repeating: "\\u0001", count: 1000))"}"#, "body"),
        (#"{\#(user),"title":"a\u0000","body":""}"#, "title"), (#"{\#(user),"title":"a","body":"\u0000"}"#, "body"),
        (#"{\#(user),"title":"a","body":"","kind":"message"}"#, "kind"),
        (#"{\#(user),"title":"a","body":"","kind":"A"}"#, "kind"),
        (#"{\#(user),"title":"a","body":"","data":[]}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"aps":1}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"type":1}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"push_log_id":1}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"subject_id":1}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"image_url":"https://example.com/a.png"}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"sealed":"x"}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","data":{"x":["\u0000"]}}"#, "data.x[0]"),
        (#"{\#(user),"title":"a","body":"","data":{"x":"\#(String(repeating: "a", count: 2041))"}}"#, "data"),
        (#"{\#(user),"title":"a","body":"","collapse_id":""}"#, "collapse_id"),
        (#"{\#(user),"title":"a","body":"","collapse_id":"a b"}"#, "collapse_id"),
      ]),
    Refusals(
      "DELETE", "/v1/pushes", .query, as: .server,
      [
        ("", "cancel_key"), ("?cancel_key=", "cancel_key"), ("?cancel=k", "cancel"), ("?user_id=", "user_id"),
        ("?cancel_key=k&user_id=3e1c2f60-8e0f-4f0a-b1a5-0d3a4b5c6d7e", "cancel_key"),
        ("?cancel_key=k&cancel_key=l", "cancel_key"),
        ("?cancel_key=\(String(repeating: "k", count: 256))", "cancel_key"),
      ]),
    Refusals(
      "POST", "/v1/webhooks/request_claimed", .body, as: .webhook,
      [
        ("{}", "subject_id"), (#"{"subject_id":"x"}"#, "subject_id"), (#"{"subject_id":null}"#, "subject_id"),
        (#"{"type":"DELETE","record":{"id":"x"}}"#, "type"), (#"{"type":"UPDATE"}"#, "record"),
        (#"{"record":{}}"#, "type"), (#"{"type":"INSERT","record":{"id":1}}"#, "record.id"),
      ]),
    Refusals(
      "POST", "/v1/webhooks/messages", .body, as: .webhook,
      [
        ("{}", "message_id"), ("[]", nil), (#"{"type":"INSERT","record":{"id":1}}"#, "record.id"),
      ]),
    Refusals(
      "GET", "/v1/explain", .query, as: .server,
      [
        ("?message_id=", "message_id"), ("?message_id=7", "message_id"), ("?campaign=A&user_id=$id", "campaign"),
        ("?campaign=coach&user_id=7", "user_id"), ("?campaign=coach&user_id=$id&day=2026-02-30", "day"),
        ("?message_id=$id&message_id=$id", "message_id"), ("?message_id=$id&user_id=7", "user_id"),
        ("?message_id=$id&user_id=", "user_id"), ("?message_id=$id&kind=A", "kind"), ("?message_id=$id&kind=", "kind"),
        ("?message_id=$id&kind=a&kind=a", "kind"), ("?message_id=$id&user=7", "user"),
        ("?message_id=$id&user_id=%ff", nil),
        ("?message_id=$id&=", nil), ("?campaign=coach&campaign=coach&user_id=$id", "campaign"),
        ("?campaign=coach&user_id=$id&day=", "day"), ("?campaign=coach&user_id=$id&days=2", "days"),
      ]),
    Refusals(
      "GET", "/v1/explain", .query, as: .server, status: 422,
      [
        ("", "message_id"), ("?", "message_id"), ("?user_id=$id", "message_id"),
        ("?message_id=$id&day=2026-11-22", "day"),
        ("?campaign=coach", "user_id"), ("?campaign=coach&user_id=$id&message_id=$id", "message_id"),
        ("?campaign=coach&user_id=$id&kind=message", "kind"),
      ]),
    Refusals(
      "POST", "/v1/push-trigger", .query, as: .server,
      [
        ("?campain=coach", "campain"), ("?dryrun=true", "dryrun"), ("?dry-run=true", "dry-run"),
        ("?DRY_RUN=true", "DRY_RUN"), ("?=", nil),
        ("?dry_run=yes", "dry_run"), ("?dry_run=1", "dry_run"), ("?dry_run=", "dry_run"), ("?dry_run", "dry_run"),
        ("?dry_run=True", "dry_run"), ("?dry_run=true&dry_run=true", "dry_run"), ("?user_id=7", "user_id"),
        ("?user_id=", "user_id"), ("?campaign=Coach", "campaign"), ("?campaign=", "campaign"),
        ("?campaign=a&campaign=a", "campaign"),
      ]),
    Refusals(
      "POST", "/v1/conversations/$id/read", .body, as: .app,
      [
        (#"{"up_to_message_id":"7"}"#, "up_to_message_id"), (#"{"up_to_message_id":7}"#, "up_to_message_id"),
        (#"{"device_token":"xy"}"#, "device_token"), (#"{"device_token":"abc"}"#, "device_token"),
        (#"{"device_token":""}"#, "device_token"), (#"{"device_token":"é0"}"#, "device_token"),
        (#"{"device_token":"\u0000\u0000"}"#, "device_token"), (#"{"device_token":1}"#, "device_token"),
        ("[]", nil), ("7", nil), ("{", nil), (#""text""#, nil),
      ]),
    Refusals(
      "GET", "/v1/schedule", .query, as: .app,
      [
        ("?days=0", "days"), ("?days=8", "days"), ("?days=+7", "days"), ("?days=", "days"), ("?days=7&days=7", "days"),
        ("?max=0", "max"), ("?max=65", "max"), ("?max=6.4", "max"), ("?max=99999999999999999999", "max"),
        ("?device_token=a", "device_token"), ("?device_token=xx", "device_token"), ("?device_token=", "device_token"),
        ("?Days=7", "Days"), ("?limit=7", "limit"), ("?hours=1", "hours"), ("?days=7&hours=1", "hours"),
      ]),
  ]

  @Test("each is answered with its status and field", arguments: refusals)
  func each(_ refusals: Refusals) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      for (text, field) in refusals.cases {
        let isBody = refusals.place == .body
        let path = (isBody ? refusals.path : refusals.path + text).replacing("$id", with: HostID.new().text)
        let proof: String? =
          switch refusals.caller {
          case .app: HostID.new().text
          case .server: nil
          case .webhook: ServiceRig.secret
          }
        let answer = try await rig.ask(
          refusals.method, path, as: proof, body: isBody ? text.replacing("$id", with: HostID.new().text) : "")
        #expect(answer.status == refusals.status && answer.field == field, "\(text): \(answer)")
      }
    }
  }
}
