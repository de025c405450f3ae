import FoundationEssentials
import PushRules
import Reactors
import TestIDs
import Testing

@testable import API

@Suite("GET /v1/explain")
struct ExplainRouteTests {
  private struct Answer: Decodable {
    struct Event: Decodable {
      let subject_id: String
      let kind: String
      let summary: String
      let recipients: [Recipient]
    }

    struct Recipient: Decodable {
      let user_id: String
      let decision: String?
      let summary: String
    }

    let events: [Event]
  }

  @Test("a message that was pushed is explained to other servers, for all and for one")
  func sent() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (message, recipient) = try await rig.makeMessage()
      #expect(try await rig.webhook(#"{"message_id":"\#(message)"}"#, prefer: "wait=10").status == 200)
      let all = try await rig.ask("GET", "/v1/explain?message_id=\(message)")
      let event = try #require(try all.decode(Answer.self).events.first)
      #expect(all.status == 200 && event.subject_id == message && event.kind == "message")
      #expect(event.recipients.count == 1 && event.summary == "1 recipient: 1 sent.")
      let path = "/v1/explain?kind=message&user_id=\(recipient.uppercased())&message_id=\(message)"
      let one = try await rig.ask("GET", path).decode(Answer.self).events[0].recipients
      #expect(one.map(\.user_id) == [recipient] && one.map(\.decision) == ["sent"])
      #expect(one[0].summary.hasPrefix("A push was sent: APNs accepted it for 1 device"))
    }
  }

  @Test("a push of a server is explained by its id, whatever its kind")
  func submitted() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let user = HostID.new().text
      try await rig.psql("insert into profiles (id) values ('\(user)')")
      let body = #"{"user_id":"\#(user)","title":"Hello","body":"You","kind":"promo"}"#
      let id = try #require(
        try await rig.ask("POST", "/v1/pushes", body: body, fields: ["Prefer": "wait=10"]).body
          .firstMatch(of: /"push_id":"([^"]+)"/)?.1)
      let event = try await rig.ask("GET", "/v1/explain?message_id=\(id)").decode(Answer.self).events[0]
      #expect(event.kind == "promo")
      #expect(event.recipients.map(\.summary) == ["No push, because the user had no device to send it to."])
    }
  }

  @Test("what nobody knows is 404 and says what that may come from")
  func unknown() async throws {
    try await ServiceRig.run { rig in
      let answer = try await rig.ask("GET", "/v1/explain?message_id=\(HostID.new().text)")
      #expect(answer.status == 404)
      #expect(answer.body.contains("Nothing is known of a message with this id"))
    }
  }

  @Test(
    "parameters are taken as they are meant, or not at all",
    arguments: [
      ("?message_id=", "message_id"), ("?message_id=7", "message_id"), ("?campaign=A&user_id=$id", "campaign"),
      ("?campaign=coach&user_id=7", "user_id"), ("?campaign=coach&user_id=$id&day=2026-02-30", "day"),
      ("?message_id=$id&message_id=$id", "message_id"), ("?message_id=$id&user_id=7", "user_id"),
      ("?message_id=$id&user_id=", "user_id"), ("?message_id=$id&kind=A", "kind"), ("?message_id=$id&kind=", "kind"),
      ("?message_id=$id&kind=a&kind=a", "kind"), ("?message_id=$id&user=7", "user"),
      ("?message_id=$id&user_id=%ff", nil),
      ("?message_id=$id&=", nil),
    ] as [(String, String?)])
  func malformed(query: String, field: String?) async throws {
    try await refuse(query, 400, field: field)
  }

  @Test(
    "an event is asked about, or a campaign and a user, and not both",
    arguments: [
      ("", "message_id"), ("?", "message_id"), ("?user_id=$id", "message_id"),
      ("?message_id=$id&day=2026-11-22", "day"),
      ("?campaign=coach", "user_id"), ("?campaign=coach&user_id=$id&message_id=$id", "message_id"),
      ("?campaign=coach&user_id=$id&kind=message", "kind"),
    ])
  func contradictory(query: String, field: String) async throws {
    try await refuse(query, 422, field: field)
  }

  private func refuse(_ query: String, _ status: Int, field: String?) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let answer = try await rig.ask("GET", "/v1/explain" + query.replacing("$id", with: HostID.new().text))
      #expect(answer.status == status)
      let named = answer.body.firstMatch(of: /"field":"([^"]+)"/).map { String($0.1) }
      #expect(named == field, "\(answer.body)")
    }
  }

  @Test("clients and strangers are not told; a database that is away is 503")
  func refused() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let path = "/v1/explain?message_id=\(HostID.new().text)"
      let client = try await rig.ask("GET", path, as: HostID.new().text)
      #expect(client.status == 401)
      #expect(try await rig.ask("GET", path).status == 503)
      #expect(try await rig.ask("POST", path).status == 405)
    }
  }
}
