import Cryptography
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
}

@Suite("The message webhook")
struct MessageWebhookTests {
  private struct Answer: Decodable {
    struct Recipient: Decodable {
      let user_id: String
      let decision: String
      let reason: String?
    }

    let message_id: String
    let sent: Bool
    let skipped: Bool
    let reason: String?
    let recipients: [Recipient]
  }

  @Test("it answers with the outcome, and a repeated one with the recorded outcome")
  func outcome() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (message, recipient) = try await rig.makeMessage()
      for _ in 0..<2 {
        let response = try await rig.webhook(#"{"message_id":"\#(message.uppercased())"}"#)
        #expect(response.status == 200)
        #expect(response.fields["content-type"] == "application/json")
        #expect(response.fields["preference-applied"] == nil)
        let answer = try response.decode(Answer.self)
        #expect(answer.message_id == message)
        #expect(answer.sent)
        #expect(answer.recipients.map(\.user_id) == [recipient])
        #expect(answer.recipients.map(\.decision) == ["sent"])
      }
      #expect(await rig.parts.perform { parts, _ in parts.channel.count } == 1)
    }
  }

  @Test("a message that the trigger did not see is pushed as well")
  func withoutTrigger() async throws {
    try await ServiceRig.run { rig in
      let (message, _) = try await rig.makeMessage()
      try await rig.psql("delete from tacet.inbox")
      rig.startPipeline()
      let body =
        #"{"type":"INSERT","table":"messages","schema":"public","record":{"id":"\#(message)"},"old_record":null}"#
      let response = try await rig.webhook(body)
      #expect(try response.decode(Answer.self).sent)
    }
  }

  @Test("the form for one recipient is answered about that recipient")
  func oneRecipient() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (message, recipient) = try await rig.makeMessage()
      for (asked, count) in [(recipient, 1), (message, 0)] {
        let response = try await rig.webhook(#"{"message_id":"\#(message)","recipient_user_id":"\#(asked)"}"#)
        #expect(try response.decode(Answer.self).recipients.count == count)
      }
    }
  }

  @Test("a caller who does not want to wait gets 202 at once, and the push goes on")
  func asynchronous() async throws {
    try await ServiceRig.run { rig in
      await rig.parts.perform { parts, _ in parts.channel.holds = true }
      rig.startPipeline()
      let (message, _) = try await rig.makeMessage()
      let body = #"{"message_id":"\#(message)"}"#
      let response = try await rig.webhook(body, prefer: "respond-async")
      #expect(response.status == 202)
      #expect(response.fields["preference-applied"] == "respond-async")
      #expect(response.body == #"{"message_id":"\#(message)","recipients":[],"sent":false,"skipped":false}"#)
      await rig.parts.perform { parts, reactor in parts.channel.release(on: reactor) }
      let later = try await rig.webhook(body, prefer: "wait=30")
      #expect(later.status == 200)
      #expect(later.fields["preference-applied"] == "wait=30")
    }
  }

  @Test("an outcome that does not come in time is 202")
  func tooLate() async throws {
    try await ServiceRig.run(wait: .milliseconds(20)) { rig in
      let (message, _) = try await rig.makeMessage()
      let response = try await rig.webhook(#"{"message_id":"\#(message)"}"#)
      #expect(response.status == 202)
    }
  }

  @Test("a message that does not exist is 404 and leaves nothing in the inbox")
  func unknown() async throws {
    try await ServiceRig.run { rig in
      let response = try await rig.webhook(#"{"message_id":"\#(HostID.new().text)"}"#)
      #expect(response.status == 404)
      #expect(response.fields["content-type"] == "application/problem+json")
      #expect(try await rig.psql("select count(*) from tacet.inbox") == "0\n")
    }
  }

  @Test("without the secret it is 401, whatever the body is, and the body is not looked at")
  func unauthorized() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      for (authorization, kind) in [("Bearer wrong", "messages"), ("Basic abc", "request_claimed"), ("", "messages")] {
        for body in ["{}", "nonsense", ""] {
          let fields = ["Authorization": authorization, "Content-Type": "application/json"]
          let response = try await PlainClient.ask(
            "POST", "/v1/webhooks/\(kind)", fields: fields, body: body, port: rig.port)
          #expect(response.status == 401)
          #expect(response.fields["www-authenticate"] == "Bearer")
          #expect(response.fields["content-type"] == "application/problem+json")
        }
      }
    }
  }

  @Test("content that is not JSON by its type is 415, one over a mebibyte 413")
  func refusedContent() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let fields = ["Authorization": "Bearer \(ServiceRig.secret)", "Content-Type": "text/plain"]
      let typed = try await PlainClient.ask(
        "POST", "/v1/webhooks/messages", fields: fields, body: "{}", port: rig.port)
      #expect(typed.status == 415)
      let large = try await PlainClient.ask(
        "POST", "/v1/webhooks/messages", fields: ["Content-Type": "application/json", "Content-Length": "1048577"],
        port: rig.port)
      #expect(large.status == 413)
    }
  }

  @Test("a database that is away is 503 with a time to come back, and says nothing about its address")
  func outage() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      for response in [
        try await rig.webhook(#"{"message_id":"\#(HostID.new().text)"}"#),
        try await rig.ask("PUT", "/v1/devices/aa", as: HostID.new().text, body: "{}"),
        try await rig.ask("PUT", "/v1/conversations/\(HostID.new())/last-seen", as: HostID.new().text),
      ] {
        #expect(response.status == 503 && response.fields["retry-after"] == "5", "\(response)")
        #expect(!response.body.contains("nowhere"))
      }
    }
  }

  @Test("a signed webhook that comes again within its five minutes, at the same time as well, pushes nothing twice")
  func repeatedIdentifier() async throws {
    try await ServiceRig.run { rig in
      rig.startPipeline()
      let (message, _) = try await rig.makeMessage()
      let body = #"{"message_id":"\#(message)"}"#
      let timestamp = "\(Int64(Date().timeIntervalSince1970) - 240)"
      let code = HMACSHA256(key: Array(ServiceRig.secret.utf8)).code(for: Array("msg_1.\(timestamp).\(body)".utf8))
      let fields = [
        "Content-Type": "application/json", "webhook-id": "msg_1", "webhook-timestamp": timestamp,
        "webhook-signature": "v1,\(Data(code.bytes).base64EncodedString())",
      ]
      @Sendable func ask() async throws -> PlainResponse {
        try await PlainClient.ask("POST", "/v1/webhooks/messages", fields: fields, body: body, port: rig.port)
      }
      async let first = ask()
      async let second = ask()
      for response in [try await first, try await second, try await ask()] {
        #expect(response.status == 200)
        #expect(try response.decode(Answer.self).sent)
      }
      #expect(await rig.parts.perform { parts, _ in parts.channel.count } == 1)
    }
  }

  @Test(
    "who shows a wrong secret is answered before the content, with 429 after ten failures; a right one always passes")
  func failures() async throws {
    try await ServiceRig.run { rig in
      let json = ["Content-Type": "application/json"]
      for number in 1...12 {
        // Its content never comes.
        let response = try await PlainClient.ask(
          "POST", "/v1/webhooks/messages", fields: json.merging(["Content-Length": "1000"]) { $1 }, port: rig.port)
        #expect(response.status == (number > 10 ? 429 : 401))
        guard response.status == 429 else { continue }
        #expect(response.fields["retry-after"].flatMap { Int($0) }.map { (1...6).contains($0) } == true)
        #expect(response.fields["content-type"] == "application/problem+json")
      }
      #expect(try await rig.webhook("{}").status == 400)
      // Other proofs have books of their own.
      #expect(try await rig.ask("POST", "/v1/pushes", as: "guess", body: "{}").status == 401)
    }
  }

  @Test("content is read only of those who have shown the secret, or may have signed it", arguments: [65_536, 65_537])
  func signedContent(bytes: Int) async throws {
    try await ServiceRig.run(hasDatabase: false) { (rig: ServiceRig) async throws in
      var fields = ["Content-Type": "application/json", "webhook-id": "m", "webhook-signature": "v1,\(Self.anyCode)"]
      let body = "{" + String(repeating: " ", count: bytes - 2) + "}"
      func ask() async throws -> Int {
        try await PlainClient.ask("POST", "/v1/webhooks/messages", fields: fields, body: body, port: rig.port).status
      }
      fields["webhook-timestamp"] = "\(Int(Date().timeIntervalSince1970))"
      #expect(try await ask() == (bytes > 65_536 ? 413 : 401))
      fields["webhook-timestamp"] = nil
      #expect(try await ask() == 401)
      fields["Authorization"] = "Bearer \(ServiceRig.secret)"
      #expect(try await ask() == 400)
    }
  }

  private static let anyCode = Data(repeating: 7, count: 32).base64EncodedString()
}
