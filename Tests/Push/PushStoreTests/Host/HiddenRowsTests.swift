import PushRules
import PushStore
import TestHosts
import TestIDs
import Testing

@Suite("What a host hides", .uuidsOnly)
struct HiddenRowsTests {
  private let chat: Chat
  private let names: [String: String]

  /// A host with all columns and tables at once, for the defaults of the contract.
  init() async throws {
    let database = try await TestDatabase.withHostTables()
    let tables = ["messages": "messages", "members": "conversation_participants", "users": "profiles"]
    for shape in HiddenShape.all + HiddenShape.shown {
      try await database.sql(HiddenShape.written(shape.preparation, tables))
    }
    try await database.migrate()
    chat = try await Chat(readers: 1, in: database)
    try await chat.register("0a", of: chat.reader)
    names = tables.merging(["sender": chat.sender.text, "reader": chat.reader.text]) { $1 }
    try await chat.send()
  }

  @discardableResult
  private func played(_ text: String, _ question: String) async throws -> String {
    try await chat.database.sql(HiddenShape.written("\(text); \(question)", names))
  }

  @Test("is not pushed, and pushed when it is shown")
  func pushed() async throws {
    let pushes = """
      select count(*)
      from messages x
      cross join lateral tacet.message_context(x.id) m
      cross join lateral tacet.seen_by(m.conversation_id) s
      cross join lateral tacet.device_tokens(s.user_id)
      where s.user_id <> m.sender_id and not tacet.has_blocked(s.user_id, m.sender_id)
      """
    #expect(try await played("select", pushes).suffix(1) == "1")
    for shape in HiddenShape.all {
      #expect(try await played(shape.hide, pushes) == "0", "\(shape)")
      #expect(try await played(shape.show, pushes) == "1", "\(shape)")
    }
    for shape in HiddenShape.shown { #expect(try await played(shape.hide, pushes) == "1", "\(shape)") }
  }

  @Test("has no recipient in a claim, nor a badge for what is hidden")
  func claimed() async throws {
    let unread = "select tacet.unread_count('$reader')"
    for shape in HiddenShape.messages {
      #expect(try await played(shape.hide, unread) == "0", "\(shape)")
      #expect(try await played(shape.show, unread) == "1", "\(shape)")
    }
    let blocks = try #require(HiddenShape.wishes.last)
    try await played(blocks.hide, "select")
    #expect(try await claim(chat.database).flatMap(\.recipients).isEmpty)
    try await played(blocks.show, "select")
    try await chat.send()
    #expect(try await claim(chat.database).flatMap(\.recipients).count == 1)
  }

  @Test("a member who wants no pushes takes part, and one who has left does not")
  func members() async throws {
    let takesPart = "select tacet.takes_part('\(chat.id)', '$reader')"
    for (shapes, answer) in [(HiddenShape.members, "f"), (HiddenShape.wishes, "t")] {
      for shape in shapes {
        #expect(try await played(shape.hide, takesPart) == answer, "\(shape)")
        #expect(try await played(shape.show, takesPart) == "t", "\(shape)")
      }
    }
  }

  @Test("browsers of a user who gets no pushes get none either")
  func browsers() async throws {
    try await played(
      "select tacet.register_target('$reader', 'web_push', 'https://push.example/1', null, null, null, null, null, null, 5)",
      "select")
    let targets = "select count(*) from tacet.push_targets('$reader')"
    #expect(try await played("select", targets).suffix(1) == "2")
    try await played("update profiles set is_banned = true", "select")
    #expect(try await played("select", targets).suffix(1) == "0")
  }

  @Test("what hides is said by tacet migrate, and what looks so and is not understood")
  func unused() async throws {
    let database = try await TestDatabase.withHostTables()
    let tables = ["messages": "messages", "members": "conversation_participants", "users": "profiles"]
    try await database.sql(HiddenShape.written(HiddenShape.odd, tables))
    try await database.sql(
      """
      alter table messages add status text, add "isDraft" boolean;
      create table blocks (blocker_id uuid, blocked_id uuid);
      create table user_blocks (user_id int, blocked_id int)
      """)
    let notices = try await database.noticesOfMigrating()
    #expect(
      notices.contains {
        $0.contains(
          #"rows of public.messages take part in pushes where "isDraft" is not true, status hides nothing"#)
      })
    #expect(notices.contains { $0.contains("public.blocks keeps senders from users") })
    for name in [
      "public.user_blocks",
      "public.messages.moderation_level", "public.messages.hidden_for", "public.messages.is_ephemeral",
      "public.conversation_participants.notification_prefs", "public.conversation_participants.is_active",
      "public.profiles.is_banned_by_vote", "public.blocklist",
    ] {
      #expect(notices.contains { $0.contains("\(name) is not used") }, "\(name): \(notices)")
    }
    #expect(notices.filter { $0.contains("is not used") }.count == 8)
  }
}
