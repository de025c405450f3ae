import FoundationEssentials
import PushRules
import Reactors
import TestIDs
import TestRepository
import Testing

@testable import API

@Suite("The webhook of watched kinds")
struct EventWebhookTests {
  private static func post(
    _ body: String, to kind: String = "request_claimed", secret: String = ServiceRig.secret, in rig: ServiceRig
  ) async throws -> PlainResponse {
    let fields = ["Authorization": "Bearer \(secret)", "Content-Type": "application/json"]
    return try await PlainClient.ask("POST", "/v1/webhooks/\(kind)", fields: fields, body: body, port: rig.port)
  }

  /// A watched table with one request; lower-case ids as the database prints them.
  private static func makeRequest(in rig: ServiceRig) async throws -> (request: String, requester: String) {
    let ids = (0..<2).map { _ in HostID.new().text }
    try await rig.psql(Repository.text("db/examples/claimed_request.sql"))
    try await rig.psql(
      """
      insert into profiles (id, name) values ('\(ids[1])', 'Ben');
      insert into push_tokens (user_id, device_token) values ('\(ids[1])', '\(ids[1].filter { $0 != "-" })');
      insert into requests (id, requester_id, title) values ('\(ids[0])', '\(ids[1])', 'A lift');
      """)
    return (ids[0], ids[1])
  }

  @Test("it answers with the outcome, about the subject, in each of its forms")
  func outcome() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (request, requester) = try await Self.makeRequest(in: rig)
      try await rig.psql("update requests set claimed_by = gen_random_uuid()")
      let sent = #"{"decision":"sent","devices":1,"user_id":"\#(requester)"}"#
      for (body, recipients) in [
        (#"{"subject_id":"\#(request)"}"#, sent),
        (#"{"subject_id":"\#(request)","recipient_user_id":"\#(requester)"}"#, sent),
        (#"{"type":"UPDATE","table":"requests","schema":"public","record":{"id":"\#(request)"}}"#, sent),
      ] {
        let response = try await Self.post(body, in: rig)
        #expect(response.status == 200)
        #expect(
          response.body == #"{"recipients":[\#(recipients)],"sent":true,"skipped":false,"subject_id":"\#(request)"}"#)
      }
      #expect(await rig.parts.perform { parts, _ in parts.channel.count } == 1)
    }
  }

  @Test("a row that is no event yet is answered as one that nobody is told of, and pushes nothing")
  func noEvent() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (request, _) = try await Self.makeRequest(in: rig)
      let response = try await Self.post(#"{"subject_id":"\#(request)"}"#, in: rig)
      #expect(response.status == 200)
      #expect(
        response.body
          == #"{"reason":"no_recipients","recipients":[],"sent":false,"skipped":true,"subject_id":"\#(request)"}"#)
      #expect(try await rig.psql("select count(*) from tacet.inbox") == "0\n")
    }
  }

  @Test("an event that is not decided in time is 202")
  func pending() async throws {
    try await ServiceRig.run(wait: .milliseconds(20)) { rig in
      let (request, _) = try await Self.makeRequest(in: rig)
      try await rig.psql("update requests set claimed_by = gen_random_uuid()")
      let response = try await Self.post(#"{"subject_id":"\#(request)"}"#, in: rig)
      #expect(response.status == 202)
      #expect(response.body == #"{"recipients":[],"sent":false,"skipped":false,"subject_id":"\#(request)"}"#)
    }
  }

  @Test(
    "a kind that is not watched is 404, and so is a row that is not there",
    arguments: ["request_claimed", "other", "message", "push", "A", "x%20y", String(repeating: "k", count: 64)])
  func unknown(kind: String) async throws {
    try await ServiceRig.run { rig in
      _ = try await Self.makeRequest(in: rig)
      let response = try await Self.post(#"{"subject_id":"\#(HostID.new().text)"}"#, to: kind, in: rig)
      #expect(response.status == 404)
    }
  }

  @Test("without the secret it is 401, before the kind is looked for")
  func unauthorized() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await Self.post("{}", secret: "wrong", in: rig)
      #expect(response.status == 401)
    }
  }

  @Test(
    "content that cannot be used is 400 and names the field",
    arguments: [
      ("{}", "subject_id"), (#"{"subject_id":"x"}"#, "subject_id"), (#"{"subject_id":null}"#, "subject_id"),
      (#"{"type":"DELETE","record":{"id":"x"}}"#, "type"), (#"{"type":"UPDATE"}"#, "record"),
      (#"{"record":{}}"#, "type"), (#"{"type":"INSERT","record":{"id":1}}"#, "record.id"),
    ])
  func malformed(body: String, field: String) async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let response = try await Self.post(body, in: rig)
      #expect(response.status == 400)
      #expect(response.body.contains(#""field":"\#(field)""#), "\(response.body)")
    }
  }
}
