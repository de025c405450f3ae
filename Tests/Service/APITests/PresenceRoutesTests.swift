import FoundationEssentials
import PushRules
import TestIDs
import Testing

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

  @Test(
    "a kind of surface begins with a letter and has at most 63 of a-z, 0-9 and _",
    arguments: [
      ("a", 404), ("calendar_2", 404), (String(repeating: "a", count: 63), 404), ("2a", 400), ("_a", 400), ("A", 400),
      ("a-b", 400), ("caf%C3%A9", 400), (String(repeating: "a", count: 64), 400),
    ])
  func kinds(_ kind: String, _ status: Int) async throws {
    try await ServiceRig.run { rig in
      let answer = try await rig.ask("PUT", "/v1/surfaces/\(kind)/\(HostID.new())/last-seen", as: HostID.new().text)
      #expect(answer.status == status)
      if status == 400 { #expect(answer.body.contains(#""field":"kind""#)) }
    }
  }

  @Test("a right that the service lacks is no outage: nobody is told to come again")
  func missingRight() async throws {
    try await ServiceRig.run { rig in
      let (path, user) = try await rig.makeConversation()
      _ = try await rig.psql(
        """
        create or replace function tacet.takes_part(conversation_id uuid, user_id uuid) returns boolean
        language plpgsql as $$ begin raise insufficient_privilege; end $$
        """)
      for (method, operation) in [("PUT", "last-seen"), ("POST", "read")] {
        let answer = try await rig.ask(method, "\(path)/\(operation)", as: user)
        #expect(answer.status == 500 && answer.fields["retry-after"] == nil, "\(answer)")
        #expect(answer.body.contains(#""code":"missing_right""#), "\(answer.body)")
      }
    }
  }

  @Test("without a database the caller is told to come again")
  func noDatabase() async throws {
    try await ServiceRig.run(hasDatabase: false) { rig in
      let answer = try await rig.ask("PUT", "/v1/conversations/\(HostID.new())/last-seen", as: HostID.new().text)
      #expect(answer.status == 503 && answer.fields["retry-after"] != nil)
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
