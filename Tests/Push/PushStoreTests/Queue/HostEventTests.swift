import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

/// Chats whose outcomes the host wants to know.
struct HostEventScene: Sendable {
  let chat: Chat
  var database: TestDatabase { chat.database }

  /// - Parameters:
  ///   - events: what is announced, as an array in SQL. escalates: after how long a message is unread; nil for never.
  init(
    readers: Int = 1, _ events: String = "'{push.unread,push.sent,push.skipped,push.failed,device.dropped}'",
    escalates: String? = "5 min", sends: OutcomeDecision? = nil
  ) async throws {
    chat = try await Chat(readers: readers)
    if let escalates {
      try await database.sql("insert into tacet.escalations (kind, after) values ('message', '\(escalates)')")
    }
    try await database.sql("select tacet.announce(\(events))")
    if let sends { try await decide(sends) }
  }

  /// Sends a message and records this outcome for every reader.
  @discardableResult
  func decide(_ decision: OutcomeDecision = .sent, reason: String? = nil) async throws -> HostID {
    let message = try await chat.send()
    try await chat.record(try await PushStoreTests.claim(database)) {
      var outcome = RecipientOutcome(
        userID: $0, decision: decision, reason: reason, acceptedDevices: decision == .sent ? ["aa"] : [])
      if decision == .sent { outcome.acceptedMicroseconds = 1000 }
      return outcome
    }
    return message
  }

  /// Makes all checks due and looks.
  func look() async throws -> Int {
    try await database.sql("update tacet.unread_checks set due_at = clock_timestamp()")
    return try await withStore(database) { try await $0.checkUnread(100, on: $1) }
  }

  func claim(_ count: Int = 10, lease: Duration = .seconds(30)) async throws -> [HostEvent] {
    try await withStore(database) { try await $0.claimHostEvents(count, lease: lease, on: $1) }
  }

  @discardableResult
  func settle(
    _ event: HostEvent, _ answer: HostEventAnswer = HostEventAnswer(status: 200), givesUp: Duration = .seconds(3600)
  ) async throws -> HostEventState? {
    try await withStore(database) { try await $0.settle(event, answer, givesUp: givesUp, on: $1) }
  }

  /// The events that are kept, by their order.
  func events(_ columns: String = "type, state, reason") async throws -> String {
    try await database.sql("select \(columns) from tacet.host_events order by id")
  }
}

@Suite("Events for the host, as they happen")
struct HostEventTests {
  @Test("without an announcement there is no trigger on the ledger, and none after it was taken back")
  func off() async throws {
    let chat = try await Chat()
    let triggers =
      "select count(*) from pg_trigger where tgrelid = 'tacet.push_log'::regclass and tgname like 'announce%'"
    #expect(try await chat.database.sql(triggers) == "0")
    try await chat.database.sql("select tacet.announce('{device.dropped}')")
    #expect(try await chat.database.sql(triggers) == "0")
    try await chat.database.sql("select tacet.announce('{push.sent}')")
    try await chat.database.sql("select tacet.announce('{push.sent,push.unread}')")
    #expect(try await chat.database.sql(triggers) == "2")
    try await chat.database.sql("select tacet.announce('{}')")
    #expect(try await chat.database.sql(triggers + "; select count(*) from tacet.announcements") == "0\n0")
    await #expect(throws: (any Error).self) { try await chat.database.sql("select tacet.announce('{push.read}')") }
  }

  @Test(
    "each outcome is one event, with its reason; a hold is none",
    arguments: [
      (OutcomeDecision.sent, "push.sent|waiting|why"), (.skipped, "push.skipped|waiting|why"),
      (.failed, "push.failed|waiting|why"), (.held, ""),
    ])
  func outcomes(_ decision: OutcomeDecision, _ expected: String) async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.decide(decision, reason: "why")
    #expect(try await scene.events() == expected)
  }

  @Test("an outcome that is recorded again is no second event, and one that follows a hold is one")
  func again() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.chat.send()
    let events = try await claim(scene.database)
    for decision in [OutcomeDecision.held, .sent, .sent] {
      try await scene.chat.record(events) {
        RecipientOutcome(userID: $0, decision: decision, reason: decision.rawValue)
      }
    }
    #expect(try await scene.events() == "push.sent|waiting|sent")
    try await scene.database.sql("update tacet.push_log set opened = true")
    #expect(try await scene.events() == "push.sent|waiting|sent")
  }

  @Test("what is not announced is no event, nor is another kind")
  func chosen() async throws {
    let scene = try await HostEventScene("'{push.skipped,push.unread}', '{message,other}'")
    try await scene.decide(.sent)
    try await scene.decide(.skipped)
    #expect(try await scene.events("type") == "push.skipped")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "1")
    try await scene.database.sql("select tacet.announce('{push.skipped,push.unread}', '{other}')")
    try await scene.decide(.skipped)
    try await scene.decide(.sent)
    #expect(try await scene.events("type") == "push.skipped")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "1")
    try await scene.database.sql("select tacet.announce('{push.skipped}')")
    #expect(try await scene.database.sql("select count(*) from tacet.unread_checks") == "0")
  }

  @Test("a device that its service calls dead is an event of its user, once; one that came back is none", .uuidsOnly)
  func dropped() async throws {
    let scene = try await HostEventScene("'{device.dropped}'")
    let (reader, database) = (scene.chat.reader, scene.database)
    try await scene.chat.register("aabbccddeeff")
    try await scene.chat.register("0011", ["registered_at": "now() + interval '1 h'"])
    try await database.sql(
      "insert into tacet.targets (channel, address, user_id) values ('fcm', 'a token', '\(reader)')")
    for address in ["aabbccddeeff", "0011", "a token", "aabbccddeeff", "unknown"] {
      try await database.sql("select tacet.drop_dead_device('\(address)', 'gone', clock_timestamp())")
    }
    let mark = try await database.sql("select left(tacet.target_mark('fcm', 'a token'), 8)")
    #expect(
      try await scene.events("type, user_id, channel, device, reason") == """
        device.dropped|\(reader)|apns|aabbccdd|gone
        device.dropped|\(reader)|fcm|\(mark)|gone
        """)
  }

  @Test("a deleted user's events, checks and wishes go with the user")
  func forgotten() async throws {
    let scene = try await HostEventScene(readers: 2, sends: .sent)
    try await scene.database.sql(
      """
      insert into tacet.unread_preferences (user_id, kind, after)
      select u, 'message', '1 h' from unnest(array['\(scene.chat.readers[0])', '\(scene.chat.readers[1])']::uuid[]) u;
      delete from profiles where id = '\(scene.chat.readers[0])'
      """)
    try await erase(scene.database)
    for table in ["host_events", "unread_checks", "unread_preferences"] {
      let left = try await scene.database.sql("select user_id from tacet.\(table)")
      #expect(left == scene.chat.readers[1].text, "\(table)")
    }
  }

  @Test("what a host takes goes, except push.unread; what is dead stays until it is pruned")
  func taken() async throws {
    let scene = try await HostEventScene(sends: .sent)
    #expect(try await scene.look() == 1)
    for _ in 0..<2 { try await scene.settle(try #require(try await scene.claim().first)) }
    #expect(try await scene.events("type, state, attempts, status") == "push.unread|taken|1|200")
  }
}

@Suite("Events for the host, one after the other")
struct HostEventOrderTests {
  private static let again = HostEventAnswer(status: 500, fault: "status 500", nextTry: .seconds(60))

  /// Makes what waits due, as if its time had come.
  private func pass(_ scene: HostEventScene) async throws {
    try await scene.database.sql("update tacet.host_events set due_at = now() - interval '1 s' where not is_claimed")
  }

  @Test("a user's next event is claimed after the one before it has ended, and other users do not wait")
  func inOrder() async throws {
    let scene = try await HostEventScene(readers: 2, escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    let first = try await scene.claim()
    #expect(first.map(\.type) == ["push.sent", "push.sent"])
    #expect(Set(first.map(\.userID)) == Set(scene.chat.readers))
    #expect(try await scene.claim().isEmpty)
    try await scene.settle(first[0])
    let next = try await scene.claim()
    #expect(next.map(\.type) == ["push.skipped"] && next.map(\.userID) == [first[0].userID])
    try await scene.settle(first[1], Self.again)
    #expect(try await scene.claim().isEmpty)
    try await pass(scene)
    let second = try await scene.claim()
    #expect(second.map(\.id) == [first[1].id] && second.map(\.attempt) == [2])
    #expect(second.map(\.webhookID) == [first[1].webhookID])
  }

  @Test("a claim takes as many users as it is asked for, those who wait longest first")
  func bounded() async throws {
    let scene = try await HostEventScene(readers: 3, escalates: nil, sends: .sent)
    try await scene.database.sql("update tacet.host_events set due_at = now() - id * interval '1 s'")
    let ids = try await scene.events("id").split(separator: "\n").map(String.init)
    #expect(try await scene.claim(2).map { String($0.id) } == [ids[2], ids[1]])
    #expect(try await scene.claim(2).map { String($0.id) } == [ids[0]])
  }

  @Test("an event of a killed process is claimed after its lease, and what the dead one still says counts no more")
  func lease() async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    let lost = try #require(try await scene.claim(lease: .zero).first)
    let mine = try #require(try await scene.claim().first)
    #expect(mine.attempt == 2 && mine.webhookID == lost.webhookID)
    #expect(try await scene.settle(lost) == nil)
    #expect(try await scene.settle(mine) == .taken)
    #expect(try await scene.settle(mine) == nil)
  }

  @Test(
    "an event is dead when its next attempt would be too late, and its user's next one comes",
    arguments: [(59, HostEventState.dead), (61, .waiting)])
  func dead(_ seconds: Int, _ state: HostEventState) async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    let event = try #require(try await scene.claim().first)
    #expect(try await scene.settle(event, Self.again, givesUp: .seconds(seconds)) == state)
    #expect(try await scene.claim().map(\.type) == (state == .dead ? ["push.skipped"] : []))
  }

  @Test("dead events are sent again behind what waits, under their ids, with all their time")
  func retried() async throws {
    let scene = try await HostEventScene(escalates: nil, sends: .sent)
    let event = try #require(try await scene.claim().first)
    try await scene.settle(event, Self.again, givesUp: .zero)
    try await scene.decide(.skipped)
    #expect(try await withStore(scene.database) { try await $0.retryHostEvents(on: $1) } == 1)
    for type in ["push.skipped", "push.sent"] {
      let next = try await scene.claim()
      #expect(next.map(\.type) == [type] && next.map(\.attempt) == [1])
      if type == "push.sent" { #expect(next.map(\.webhookID) == [event.webhookID]) }
      try await scene.settle(next[0])
    }
    #expect(try await scene.events() == "")
  }

  @Test("two sessions that claim at once share the users, and neither waits or claims a user twice")
  func together() async throws {
    let scene = try await HostEventScene(readers: 6, escalates: nil, sends: .sent)
    try await scene.decide(.skipped)
    try await withTwoSessions(scene.database) { one, two, reactor in
      try await one.run("begin", on: reactor)
      try await two.run("begin", on: reactor)
      let claim = "select string_agg(user_id::text || type, ' ') from tacet.claim_host_events(4, interval '1 min')"
      let first = try #require(try await one.value(claim, on: reactor)).split(separator: " ")
      let second = try #require(try await two.value(claim, on: reactor)).split(separator: " ")
      #expect(first.count == 4 && second.count == 2 && Set(first).isDisjoint(with: second))
      #expect((first + second).allSatisfy { $0.hasSuffix("push.sent") })
      try await one.run("commit", on: reactor)
      // The second one's snapshot is older than the commit, and it looks again all the same.
      #expect(try await two.value(claim, on: reactor) == nil)
      try await two.run("commit", on: reactor)
    }
  }

  @Test("an event that commits late, with a lower place, waits until the one under way has ended")
  func lateCommit() async throws {
    let scene = try await HostEventScene(escalates: nil)
    let reader = scene.chat.reader
    let insertion = "insert into tacet.host_events (type, user_id) values ('push.sent', '\(reader)')"
    try await withTwoSessions(scene.database) { one, two, reactor in
      try await one.run("begin; \(insertion)", on: reactor)
      try await two.run(insertion, on: reactor)
      let claim = "select string_agg(id::text, ' ') from tacet.claim_host_events(4, interval '1 min')"
      let later = try await two.value(claim, on: reactor)
      #expect(later != nil)
      try await one.run("commit", on: reactor)
      #expect(try await two.value(claim, on: reactor) == nil)
      _ = try await two.value(
        "tacet.settle_host_event(\(later ?? "0"), 1, 200, null, null, interval '1 h')", on: reactor)
      #expect(try await two.value(claim, on: reactor) != nil)
    }
  }

  @Test("a thousand events of a user cost a claim one look at each, once")
  func longQueue() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.database.sql(
      "insert into tacet.host_events (type, user_id) select 'push.sent', '\(scene.chat.reader)' from generate_series(1, 1000)"
    )
    let event = try #require(try await scene.claim().first)
    let due = "select count(*) from tacet.host_events where due_at <= clock_timestamp()"
    #expect(try await scene.database.sql(due) == "0")
    try await scene.settle(event)
    #expect(try await scene.database.sql(due) == "1")
  }

  @Test("a claim reads as little however many events wait for the user", .uuidsOnly)
  func many() async throws {
    let scene = try await HostEventScene(escalates: nil)
    try await scene.database.sql(
      """
      insert into tacet.host_events (type, user_id) select 'push.sent', '\(scene.chat.reader)' from generate_series(1, 3000);
      analyze tacet.host_events
      """)
    try await scene.settle(try #require(try await scene.claim().first))
    // Those that wait for the user's first one are not looked at again: neither from the table nor from an index.
    let reads = try await scene.database.sql(
      """
      select pg_stat_force_next_flush();
      create table reads as select seq_tup_read + idx_tup_fetch as n from pg_stat_user_tables where relid = 'tacet.host_events'::regclass;
      select from tacet.claim_host_events(1, '30 s');
      select pg_stat_force_next_flush();
      select seq_tup_read + idx_tup_fetch - n < 20 from reads, pg_stat_user_tables where relid = 'tacet.host_events'::regclass
      """)
    #expect(reads.split(separator: "\n").last == "t")
  }
}

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
    #expect(try await scene.events("state, due_at > now() + interval '20 s'") == "waiting|t")
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
