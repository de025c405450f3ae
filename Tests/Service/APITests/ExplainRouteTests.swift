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
      #expect(try await rig.webhook(#"{"message_id":"\#(message)"}"#, prefer: "wait=60").status == 200)
      let all = try await rig.ask("GET", "/v1/explain?message_id=\(message)")
      let event = try #require(try all.decode(Answer.self).events.first)
      #expect(all.status == 200 && event.subject_id == message && event.kind == "message")
      #expect(event.recipients.count == 1 && event.summary == "1 recipient: 1 sent.")
      let path = "/v1/explain?kind=message&user_id=\(recipient.uppercased())&message_id=\(message)"
      let one = try await rig.ask("GET", path).decode(Answer.self).events[0].recipients
      #expect(one.map(\.user_id) == [recipient] && one.map(\.decision) == ["sent"])
      #expect(one[0].summary.hasPrefix("A push was sent: it was accepted for 1 device"))
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
        try await rig.ask("POST", "/v1/pushes", body: body, fields: ["Prefer": "wait=60"]).body
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

@Suite("GET /v1/explain of a campaign")
struct CampaignExplainTests {
  private struct Answer: Decodable {
    struct Day: Decodable {
      struct Push: Decodable {
        let push_log_id: String
        let opened: Bool
      }

      let local_day: String
      let decision: String?
      let steps: [String]
      let push: Push?
    }

    let campaign: String
    let user_id: String
    let standing: String?
    let days: [Day]
  }

  @Test("a campaign that is not there is 404; a user of whom nothing is known is told about as well")
  func unknown() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      let user = HostID.new().text
      let nobody = try await rig.ask("GET", "/v1/explain?campaign=nobody&user_id=\(user)")
      #expect(nobody.status == 404 && nobody.body.contains("There is no campaign nobody."))
      let answer = try await Self.explain(user, in: rig)
      #expect(answer.standing == "not_in_audience" && answer.days.isEmpty)
    }
  }

  @Test("tells of a push, of the day that is asked for, and of the user's tap")
  func opened() async throws {
    try await ServiceRig.run { rig in
      try await rig.makeCoach()
      rig.startPipeline()
      rig.startCampaigns()
      let user = try await rig.makeCoachedUser()
      #expect(try await rig.ask("POST", "/v1/push-trigger", fields: ["Prefer": "wait=60"]).status == 200)
      try await rig.wait(for: "1", to: "select count(*) from tacet.push_log where decision = 'sent'")
      let before = try await Self.explain(user.uppercased(), in: rig)
      let day = try #require(before.days.first)
      #expect(before.user_id == user && before.campaign == "coach" && before.standing == "pushed_today")
      #expect(day.decision == "committed" && day.push?.opened == false && day.steps.contains("not opened"))
      let push = try #require(day.push)
      let path = "/v1/pushes/\(push.push_log_id)/opened"
      #expect(try await rig.ask("POST", path, as: HostID.new().text).status == 404)
      #expect(try await rig.ask("POST", path, as: user).status == 204)
      let after = try #require(try await Self.explain(user, "&day=\(day.local_day)", in: rig).days.first)
      #expect(after.push?.opened == true && after.steps.contains("opened by the user"))
      #expect(try await Self.explain(user, "&day=2020-01-01", in: rig).days.isEmpty)
    }
  }

  private static func explain(_ user: String, _ more: String = "", in rig: ServiceRig) async throws -> Answer {
    let answer = try await PlainClient.ask(
      "GET", "/v1/explain?campaign=coach&user_id=\(user)" + more,
      fields: ["Authorization": "Bearer \(ServiceRig.serviceKey)"], port: rig.port)
    try #require(answer.status == 200, "\(answer.body)")
    return try answer.decode(Answer.self)
  }
}
