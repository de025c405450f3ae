import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Pushes that nobody looks at")
struct UnreadTests {
  @Test(
    "a push is due after its kind's time, or the user's; a kind without a rule and a user who wants none never",
    arguments: [
      ("'5 min'", nil, "00:05:00"), ("'5 min'", "'1 h'", "01:00:00"), ("'5 min'", "null", ""), (nil, "'1 h'", ""),
    ] as [(String?, String?, String)])
  func due(_ rule: String?, _ wish: String?, _ expected: String) async throws {
    let scene = try await HostEventScene("'{push.unread}'", escalates: rule.map { String($0.dropFirst().dropLast()) })
    if let wish {
      try await scene.database.sql(
        "insert into tacet.unread_preferences (user_id, kind, after) values ('\(scene.chat.reader)', 'message', \(wish))"
      )
    }
    try await scene.decide(.sent)
    #expect(
      try await scene.database.sql(
        "select c.due_at - l.sent_at from tacet.unread_checks c join tacet.push_log l on l.id = c.log_id")
        == expected)
  }

  @Test("wishes are stored with the other preferences, and the next document replaces them")
  func wishes() async throws {
    let chat = try await Chat()
    for wishes in [["message": 900, "digest": 0], ["digest": 60], [:]] {
      let read = try await withStore(chat.database) { store, reactor in
        let isPut = try await store.put(UserPreferences(unreadAfter: wishes), of: chat.reader, on: reactor)
        #expect(isPut)
        return try await store.preferences(of: chat.reader, on: reactor)
      }
      #expect(read.unreadAfter == wishes)
    }
  }

  /// What happens between the push and its time, and why the host is not told then; nil if it is.
  private static let happenings: [(sql: String, cause: String?)] = [
    ("select 1", nil),
    ("update tacet.push_log set opened = true, opened_at = now()", "opened"),
    ("update messages set read_by = array['READER']::uuid[]", "read"),
    ("update conversation_participants set last_seen = clock_timestamp() where user_id = 'READER'", "seen"),
    ("update conversation_participants set last_seen = now() - interval '1 h' where user_id = 'READER'", nil),
    ("update conversation_participants set last_seen = now() + interval '1 h' where user_id = 'READER'", nil),
    ("delete from messages", "deleted"),
    ("delete from conversation_participants where user_id = 'READER'", "left"),
    ("delete from profiles where id = 'READER'", "user_gone"),
    ("insert into tacet.unread_preferences (user_id, kind, after) values ('READER', 'message', null)", "opted_out"),
    ("insert into tacet.unread_preferences (user_id, kind, after) values ('READER', 'message', '1 h')", nil),
  ]

  @Test(
    "what is opened, read, seen, deleted or left before its time makes no event, and can be explained",
    arguments: happenings)
  func cancelled(_ sql: String, _ cause: String?) async throws {
    let scene = try await HostEventScene("'{push.unread}'", sends: .sent)
    try await scene.database.sql(sql.replacing("READER", with: scene.chat.reader.text))
    #expect(try await scene.look() == 1)
    #expect(try await scene.events() == (cause == nil ? "push.unread|waiting|" : ""))
    let message = HostID(text: try await scene.database.sql("select subject_id from tacet.push_log"))
    let known = try await withStore(scene.database) {
      try await $0.records(ofSubject: message, on: $1).flatMap(\.recipients).filter { $0.ledger != nil }.map(\.unread)
    }
    #expect(known.map { $0?.state } == [cause == nil ? UnreadFacts.State.waiting : .cancelled])
    #expect(known.map { $0?.reason } == [cause])
    #expect(try await scene.claim().count == (cause == nil ? 1 : 0))
    #expect(try await scene.look() == 0)
  }

  @Test("the same after its time, before the event is sent: it is looked at once more", arguments: happenings)
  func cancelledLate(_ sql: String, _ cause: String?) async throws {
    let scene = try await HostEventScene("'{push.unread}'", sends: .sent)
    #expect(try await scene.look() == 1)
    try await scene.database.sql(sql.replacing("READER", with: scene.chat.reader.text))
    #expect(try await scene.claim().count == (cause == nil ? 1 : 0))
    #expect(try await scene.events() == "push.unread|\(cause == nil ? "waiting" : "cancelled")|\(cause ?? "")")
  }

  @Test("a push that was cancelled or whose row is gone is not unread; one that is neither is, and its view counts")
  func watched() async throws {
    for (sql, cause) in [
      ("select 1", nil), ("delete from tasks", "deleted"), ("update lists set member_ids = '{}'", "left"),
      (
        "insert into tacet.surface_views (surface_kind, surface_id, user_id, last_seen) select 'list', id, 'READER', clock_timestamp() from lists",
        "seen"
      ),
    ] as [(String, String?)] {
      let scene = try await WatchScene.tasks()
      try await scene.database.sql(
        """
        insert into tacet.escalations (kind, after) values ('task_added', '1 h');
        select tacet.announce('{push.unread}')
        """)
      try await scene.add(note: "'Milk'")
      let events = try await claim(scene.database)
      try await withStore(scene.database) { store, reactor in
        let decided = events.map { event in
          DecidedEvent(
            event: event,
            outcomes: event.recipients.map {
              RecipientOutcome(userID: $0.userID, decision: .sent, acceptedDevices: ["aa"])
            }, deadTargets: [], wokenBy: "notify")
        }
        try await store.record(decided, on: reactor)
      }
      try await scene.database.sql(sql.replacing("READER", with: scene.reader.text))
      try await scene.database.sql("update tacet.unread_checks set due_at = clock_timestamp()")
      #expect(try await withStore(scene.database) { try await $0.checkUnread(100, on: $1) } == 1)
      #expect(
        try await scene.database.sql("select state, reason from tacet.host_events") == (cause == nil ? "waiting|" : ""),
        "\(sql)")
    }
  }

  @Test("while a function of the host fails nobody is told; after an hour the event is cancelled")
  func failing() async throws {
    let scene = try await HostEventScene("'{push.unread}'", sends: .sent)
    try await scene.database.sql("alter table messages rename to broken")
    #expect(try await scene.look() == 1)
    #expect(try await scene.events() == "push.unread|waiting|")
    #expect(try await scene.claim().isEmpty)
    try await scene.database.sql("update tacet.host_events set due_at = now()")
    #expect(try await scene.claim().isEmpty)
    #expect(try await scene.events("state, due_at > now() + interval '50 s'") == "waiting|t")
    try await scene.database.sql("update tacet.host_events set due_at = now(), occurred_at = now() - interval '61 min'")
    #expect(try await scene.claim().isEmpty)
    #expect(try await scene.events() == "push.unread|cancelled|not_known")
  }

  @Test("two sessions that look at once make one event of each push")
  func together() async throws {
    let scene = try await HostEventScene(readers: 5, "'{push.unread}'", sends: .sent)
    try await scene.database.sql("update tacet.unread_checks set due_at = clock_timestamp()")
    try await withTwoSessions(scene.database) { one, two, reactor in
      try await one.run("begin", on: reactor)
      #expect(try await one.value("tacet.check_unread(3)", on: reactor) == "3")
      #expect(try await two.value("tacet.check_unread(10)", on: reactor) == "2")
      try await one.run("commit", on: reactor)
      #expect(try await two.value("tacet.check_unread(10)", on: reactor) == "0")
    }
    #expect(try await scene.database.sql("select count(*), count(distinct log_id) from tacet.host_events") == "5|5")
  }
}
