import Foundation
import FoundationEssentials
import PushRules
import TestIDs
import Testing

@testable import API

@Suite("Activity and engagement over HTTP")
struct ActivityRoutesTests {
  private struct Answer: Decodable {
    let total_users: Int
    let active_users: Int
    let recent_users: Int
    let lapsed_users: Int
    let churn_risk_users: Int
    let engagement_rate: Double
    let avg_sessions_per_week: Double
    let avg_session_seconds: Double
  }

  @Test("an app says that its user is active, as often as it likes; nobody else can")
  func active() async throws {
    try await ServiceRig.run { (rig) async throws in
      let user = HostID.new().text
      for _ in 0..<3 { #expect(try await rig.ask("POST", "/v1/activity", as: user).status == 204) }
      #expect(try await rig.psql("select user_id from tacet.activity") == "\(user)\n")
      #expect(try await rig.ask("POST", "/v1/activity", as: "nobody").status == 401)
      #expect(try await rig.ask("POST", "/v1/activity", as: ServiceRig.serviceKey).status == 401)
    }
  }

  @Test("a look and a read say it too; a refused one does not")
  func signs() async throws {
    try await ServiceRig.run { (rig) async throws in
      let (path, user) = try await rig.makeConversation()
      #expect(try await rig.ask("PUT", path + "/last-seen", as: HostID.new().text).status == 403)
      #expect(try await rig.ask("PUT", path + "/last-seen", as: user).status == 204)
      try await rig.awaitActivity(of: user)
      let (otherPath, reader) = try await rig.makeConversation()
      #expect(try await rig.ask("POST", otherPath + "/read", as: reader, body: "{}").status == 200)
      try await rig.awaitActivity(of: reader)
      #expect(try await rig.psql("select count(*) from tacet.activity") == "2\n")
    }
  }

  @Test("an opened notification says it too, also in telemetry; what devices do by themselves does not")
  func opened() async throws {
    try await ServiceRig.run { (rig) async throws in
      let (user, other) = (try await rig.makeUser(), try await rig.makeUser())
      for (code, reporter) in [("delivered", other), ("opened", user)] {
        let event = """
          {"id": "\(UUID().uuidString)", "code": "\(code)", "slotId": "0800", "identifier": "ritual.0800.2026-11-22",
          "whenMs": 1795330800000, "attempt": 1, "networkState": "offline", "tzOffset": 0, "appState": "background",
          "timestamp": \(Int(Date().timeIntervalSince1970 * 1000))}
          """
        #expect(
          try await rig.ask("POST", "/v1/telemetry", as: reporter, body: #"{"events": [\#(event)]}"#).status == 200)
      }
      try await rig.awaitActivity(of: user)
      #expect(try await rig.psql("select count(*) from tacet.activity") == "1\n")
    }
  }

  @Test("users of today, of four and of five days ago: 3, 1, 0, 2, 0 and a third; nobody is 0")
  func engagement() async throws {
    try await ServiceRig.run { (rig) async throws in
      let nobody = try await rig.ask("GET", "/v1/engagement", as: ServiceRig.serviceKey).decode(Answer.self)
      #expect(nobody.total_users == 0 && nobody.engagement_rate == 0)
      #expect(nobody.avg_sessions_per_week == 0 && nobody.avg_session_seconds == 0)
      for days in [0, 4, 5] {
        let user = HostID.new()
        for minutes in [10, 0] {
          try await rig.psql(
            "select tacet.note_activity('\(user)', now() - interval '\(days) days \(minutes) minutes')")
        }
      }
      let week = try await rig.ask("GET", "/v1/engagement", as: ServiceRig.serviceKey).decode(Answer.self)
      let counts = [week.total_users, week.active_users, week.recent_users, week.lapsed_users, week.churn_risk_users]
      #expect(counts == [3, 1, 0, 2, 0])
      #expect(abs(week.engagement_rate - 1 / 3) < 1e-9)
      #expect(abs(week.avg_sessions_per_week - 1) < 1e-9 && abs(week.avg_session_seconds - 600) < 10)
      #expect(try await rig.ask("GET", "/v1/engagement", as: HostID.new().text).status == 401)
    }
  }

  @Test("a period that cannot be meant is refused by the name of what is wrong")
  func refusals() async throws {
    let soon = Date(timeIntervalSinceNow: 120).formatted(.iso8601)
    let cases = [
      ("from=yesterday", "from"), ("to=2026-13-01T00:00:00Z", "to"), ("to=", "to"), ("to=\(soon)", "to"),
      ("to=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "to"), ("until=2026-01-01T00:00:00Z", "until"),
      ("from=2026-01-02T00:00:00Z&to=2026-01-02T00:00:00Z", "from"),
      ("from=2024-12-30T23:59:59Z&to=2026-01-01T00:00:00Z", "from"), ("from=2999-01-01T00:00:00Z", "from"),
    ]
    try await ServiceRig.run { (rig) async throws in
      for (query, field) in cases {
        let answer = try await rig.ask("GET", "/v1/engagement?\(query)", as: ServiceRig.serviceKey)
        #expect(answer.status == 400 && answer.field == field, "\(query): \(answer.body)")
      }
    }
  }

  @Test("either end of a period may be left out, and a period may last 366 days")
  func periods() async throws {
    let cases = [
      ("to=2026-01-08T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-08T00:00:00.000Z"),
      (
        "to=2026-01-08T01:00:00%2B01:00&from=2025-01-07T00:00:00Z", "2025-01-07T00:00:00.000Z",
        "2026-01-08T00:00:00.000Z"
      ),
    ]
    try await ServiceRig.run { (rig) async throws in
      for (query, start, end) in cases {
        let answer = try await rig.ask("GET", "/v1/engagement?\(query)", as: ServiceRig.serviceKey)
        #expect(answer.status == 200 && answer.body.contains(#""from":"\#(start)""#), "\(answer.body)")
        #expect(answer.body.contains(#""to":"\#(end)""#), "\(answer.body)")
      }
    }
  }
}

extension ServiceRig {
  /// Returns once a user's activity is written, which is some time after the answer.
  func awaitActivity(of user: String) async throws {
    try await wait(for: "1", to: "select count(*) from tacet.activity where user_id = '\(user)'")
  }
}

@Suite("Presence over HTTP")
struct PresenceRoutesTests {
  @Test("looking and leaving are answered without content, as often as they are said")
  func signs() async throws {
    try await ServiceRig.run { rig in
      let (path, user) = try await rig.makeConversation()
      for method in ["PUT", "PUT", "DELETE", "DELETE", "PUT"] {
        let answer = try await rig.ask(method, path + "/last-seen", as: user)
        #expect(answer.status == 204 && answer.body.isEmpty)
      }
      #expect(try await rig.psql("select count(last_seen) from conversation_participants").contains("1"))
    }
  }

  @Test("conversations are a kind of surface")
  func conversationAsSurface() async throws {
    try await ServiceRig.run { rig in
      let (path, user) = try await rig.makeConversation()
      let surface = path.replacing("/v1/conversations/", with: "/v1/surfaces/conversation/")
      #expect(try await rig.ask("PUT", surface + "/last-seen", as: user).status == 204)
      #expect(try await rig.psql("select count(last_seen) from conversation_participants").contains("1"))
      #expect(try await rig.ask("PUT", surface + "/last-seen", as: HostID.new().text).status == 403)
    }
  }

  @Test("what is unknown is 404, what is somebody else's 403, and what is no id 400 with its name")
  func refusals() async throws {
    try await ServiceRig.run { rig in
      let (path, user) = try await rig.makeConversation()
      for method in ["PUT", "DELETE"] {
        #expect(try await rig.ask(method, path + "/last-seen", as: HostID.new().text).status == 403)
        #expect(try await rig.ask(method, path + "/last-seen", as: "nobody").status == 401)
        #expect(try await rig.ask(method, "/v1/conversations/\(HostID.new())/last-seen", as: user).status == 404)
        #expect(try await rig.ask(method, "/v1/surfaces/calendar/\(HostID.new())/last-seen", as: user).status == 404)
        let malformed = try await rig.ask(method, "/v1/conversations/7/last-seen", as: user)
        #expect(malformed.status == 400 && malformed.body.contains(#""field":"id""#))
      }
    }
  }

  @Test("a kind of surface begins with a letter and has at most 63 of a-z, 0-9 and _")
  func kinds() async throws {
    let longest = String(repeating: "a", count: 63)
    try await ServiceRig.run { rig in
      for (status, kinds) in [
        (404, ["a", "calendar_2", longest]), (400, ["2a", "_a", "A", "a-b", "caf%C3%A9", longest + "a"]),
      ] {
        for kind in kinds {
          let path = "/v1/surfaces/\(kind)/\(HostID.new())/last-seen"
          let answer = try await rig.ask("PUT", path, as: HostID.new().text)
          #expect(answer.status == status && answer.field == (status == 400 ? "kind" : nil), "\(kind)")
        }
      }
    }
  }

  @Test(
    "what the service may not do in the database is no outage: nobody is told to come again",
    arguments: [
      ("perform tacet.not_wired('takes_part')", "not_wired"), ("raise insufficient_privilege", "missing_right"),
    ])
  func missing(_ statement: String, _ code: String) async throws {
    try await ServiceRig.run { rig in
      let (path, user) = try await rig.makeConversation()
      _ = try await rig.psql(
        """
        create or replace function tacet.takes_part(conversation_id uuid, user_id uuid) returns boolean
        language plpgsql as $$ begin \(statement); end $$
        """)
      for (method, operation) in [("PUT", "last-seen"), ("POST", "read")] {
        let answer = try await rig.ask(method, "\(path)/\(operation)", as: user)
        #expect(answer.status == 500 && answer.fields["retry-after"] == nil, "\(answer)")
        #expect(answer.body.contains("\"code\":\"\(code)\""), "\(answer.body)")
      }
    }
  }
}

extension ServiceRig {
  /// A conversation of one.
  func makeConversation() async throws -> (path: String, user: String) {
    let ids = (0..<2).map { _ in HostID.new().text }
    try await psql(
      """
      insert into public.profiles (id) values ('\(ids[0])');
      insert into public.conversations (id) values ('\(ids[1])');
      insert into public.conversation_participants (conversation_id, user_id) values ('\(ids[1])', '\(ids[0])');
      """)
    return ("/v1/conversations/\(ids[1])", ids[0])
  }
}

@Suite("Reading over HTTP")
struct ReadRoutesTests {
  @Test(
    "all is read without content, with an empty object and with nulls",
    arguments: ["", "{}", #"{"up_to_message_id":null,"device_token":null}"#])
  func all(_ body: String) async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      let answer = try await rig.ask("POST", path + "/read", as: reader, body: body)
      #expect(answer.status == 200 && answer.body == #"{"badge":0,"read":1}"#)
      #expect(answer.fields["content-type"] == "application/json")
      #expect(try await rig.ask("POST", path + "/read", as: reader, body: body).body == #"{"badge":0,"read":0}"#)
    }
  }

  @Test("a message of another conversation is 404 with its field, and nothing is read")
  func otherMessage() async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let (other, _) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      let wrong = try await rig.ask("POST", path + "/read", as: reader, body: #"{"up_to_message_id":"\#(other)"}"#)
      #expect(wrong.status == 404 && wrong.body.contains(#""field":"up_to_message_id""#))
      let right = try await rig.ask("POST", path + "/read", as: reader, body: #"{"up_to_message_id":"\#(message)"}"#)
      #expect(right.body == #"{"badge":0,"read":1}"#)
    }
  }

  @Test("strangers get 403, unknown conversations 404, no token 401")
  func refusals() async throws {
    try await ServiceRig.run { rig in
      let (message, reader) = try await rig.makeMessage()
      let path = try await rig.path(ofConversationOf: message)
      #expect(try await rig.ask("POST", path + "/read", as: HostID.new().text).status == 403)
      #expect(try await rig.ask("POST", "/v1/conversations/\(HostID.new())/read", as: reader).status == 404)
      #expect(try await rig.ask("POST", path + "/read", as: "nobody").status == 401)
    }
  }

  @Test("tokens have an even number of hexadecimal digits, at most 512")
  func tokens() {
    for digits in [2, 64, 512] { #expect(throws: Never.self) { try Self.decode(digits) } }
    for digits in [0, 1, 63, 514] { #expect(throws: (any Error).self) { try Self.decode(digits) } }
  }

  private static func decode(_ digits: Int) throws {
    let token = String(repeating: "a", count: digits)
    _ = try JSONDecoder().decode(ReadBody.self, from: Data(#"{"device_token":"\#(token)"}"#.utf8))
  }

  @Test("a push is opened by its user, as often as the app says so")
  func opened() async throws {
    try await ServiceRig.run { rig in
      let (push, user) = (UUID().uuidString.lowercased(), HostID.new().text)
      try await rig.psql(
        """
        insert into tacet.push_log (id, user_id, subject_id, push_type, decision)
        values ('\(push)', '\(user)', gen_random_uuid(), 'message', 'sent')
        """)
      for _ in 0..<2 {
        let answer = try await rig.ask("POST", "/v1/pushes/\(push)/opened", as: user)
        #expect(answer.status == 204 && answer.body.isEmpty)
      }
      #expect(try await rig.psql("select opened from push_log").contains("t"))
      #expect(try await rig.ask("POST", "/v1/pushes/\(push)/opened", as: HostID.new().text).status == 404)
      #expect(try await rig.ask("POST", "/v1/pushes/\(HostID.new())/opened", as: user).status == 404)
      let malformed = try await rig.ask("POST", "/v1/pushes/7/opened", as: user)
      #expect(malformed.status == 400 && malformed.body.contains(#""field":"push_log_id""#))
    }
  }
}

extension ServiceRig {
  fileprivate func path(ofConversationOf message: String) async throws -> String {
    let id = try await psql("select conversation_id from messages where id = '\(message)'")
    return "/v1/conversations/" + id.filter { !$0.isWhitespace }
  }
}
