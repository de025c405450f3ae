import Foundation
import PushRules
import TestIDs
import TestRandomness
import TestRepository
import Testing

@testable import PushStore

@Suite("Marks of unread messages")
struct UnreadMarkTests {
  /// What the function counted before there were marks.
  private static func counted(for user: HostID) -> String {
    """
    (select count(*) from public.conversation_participants c
     join public.messages m on m.conversation_id = c.conversation_id
     where c.user_id = '\(user)' and m.from_id <> '\(user)' and not (m.read_by @> array['\(user)'::uuid]))
    """
  }

  /// A host's own count.
  static let seven = """
    create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as 'select 7::bigint'
    """

  /// A conversation of which the reader has read everything up to an hour ago.
  private static func readChat(messages: Int) async throws -> (chat: Chat, reader: HostID) {
    let chat = try await Chat()
    let reader = chat.readers[0]
    try await chat.database.sql(
      """
      insert into public.messages (conversation_id, from_id, text, read_by, created_at)
      select '\(chat.id)', '\(chat.sender)', 'Hello', array['\(reader)'::uuid], now() - interval '1 hour' - n * interval '1 minute'
      from generate_series(1, \(messages)) n
      """)
    return (chat, reader)
  }

  private func move(_ chat: Chat, _ users: [HostID]) async throws {
    try await withStore(chat.database) { try await $0.moveUnreadMarks(of: users, on: $1) }
  }

  @Test("a mark is made where it passes over sixteen messages at least", arguments: [(15, "0"), (16, "1")])
  func few(messages: Int, marks: String) async throws {
    let (chat, reader) = try await Self.readChat(messages: messages)
    try await move(chat, [reader])
    #expect(try await chat.database.sql("select count(*) from tacet.unread_marks") == marks)
  }

  @Test("a mark that has fewer messages to pass is left alone after one look at them in an index")
  func fewReads() async throws {
    let (chat, reader) = try await Self.readChat(messages: 15)
    try await chat.database.sql("vacuum public.messages")
    let reads = try await chat.database.sql(
      """
      set enable_seqscan = off;
      set enable_bitmapscan = off;
      select pg_stat_force_next_flush();
      create table reads as select idx_tup_fetch as n from pg_stat_user_tables where relid = 'public.messages'::regclass;
      select tacet.move_unread_marks(array['\(reader)']::uuid[]);
      select pg_stat_force_next_flush();
      select idx_tup_fetch - n <= 15 from reads, pg_stat_user_tables where relid = 'public.messages'::regclass
      """)
    #expect(reads.split(separator: "\n").last == "t")
  }

  @Test("a mark stands at the first unread message, and never later than ten minutes ago")
  func place() async throws {
    let (chat, reader) = try await Self.readChat(messages: 40)
    try await move(chat, [reader])
    let age = "select extract(epoch from now() - read_until)::int / 60 from tacet.unread_marks"
    #expect(try await chat.database.sql(age) == "10")
    try await chat.database.sql("delete from tacet.unread_marks")
    try await chat.send("'later'", ["created_at": "now() - interval '30 minutes'"])
    try await move(chat, [reader])
    #expect(try await chat.database.sql(age) == "30")
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)')") == "1")
  }

  @Test("a message that is marked as unread again is counted again, for those who unread it")
  func unreadAgain() async throws {
    let (chat, reader) = try await Self.readChat(messages: 40)
    try await move(chat, [reader])
    try await chat.database.sql(
      "update public.messages set read_by = '{}' where created_at < now() - interval '90 minutes'")
    #expect(try await chat.database.sql("select count(*) from tacet.unread_marks") == "0")
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)') = \(Self.counted(for: reader))") == "t")
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)')") == "11")
  }

  @Test("what was inserted with a date of the past is counted within a day")
  func pastDates() async throws {
    let (chat, reader) = try await Self.readChat(messages: 40)
    try await move(chat, [reader])
    try await chat.send("'imported'", ["created_at": "now() - interval '80 minutes'"])
    try await move(chat, [reader])
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)')") == "0")
    try await chat.database.sql("update tacet.unread_marks set built_at = now() - interval '25 hours'")
    try await move(chat, [reader])
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)')") == "1")
  }

  @Test(
    "counting ends at the session's BADGE_MAX, over all conversations together",
    arguments: [("4", "4"), ("5", "5"), ("6", "5"), ("", "5")])
  func limit(badgeMax: String, count: String) async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    let other = HostID.new()
    try await chat.database.sql(
      """
      insert into conversations (id) values ('\(other)');
      insert into conversation_participants (conversation_id, user_id) values ('\(other)', '\(chat.reader)');
      insert into messages (conversation_id, from_id) values ('\(other)', '\(chat.sender)'), ('\(other)', '\(chat.sender)')
      """)
    let counted = try await chat.database.sql(
      "set tacet.badge_max = '\(badgeMax)'; select tacet.unread_count('\(chat.reader)')")
    #expect(counted == count)
  }

  @Test("of a conversation the newest ten thousand messages are counted, and a mark passes over as many at a time")
  func scanned() async throws {
    let (chat, reader) = try await Self.readChat(messages: 10_050)
    try await chat.send("'old'", ["created_at": "now() - interval '1 year'"])
    #expect(try await chat.database.sql("select tacet.unread_count('\(reader)')") == "0")
    try await chat.database.sql("delete from public.messages where text = 'old'")
    try await move(chat, [reader])
    let passed = "select count(*) from public.messages, tacet.unread_marks where created_at < read_until"
    #expect(try await chat.database.sql(passed) == "9999")
    try await move(chat, [reader])
    #expect(try await chat.database.sql(passed) == "10050")
  }

  @Test("a host's own count needs no marks")
  func hostFunction() async throws {
    let (chat, reader) = try await Self.readChat(messages: 40)
    try await chat.database.sql(Self.seven)
    try await move(chat, [reader])
    #expect(try await chat.database.sql("select count(*) from tacet.unread_marks") == "0")
  }

  @Test("the migration leaves a host's own count alone")
  func migration() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(Self.seven)
    try await database.apply(Repository.install)
    #expect(try await database.sql("select tacet.unread_count(gen_random_uuid())") == "7")
  }

  @Test("the badges of many users are those of each, also in a conversation that is read once for all")
  func many() async throws {
    let chat = try await Chat(readers: 9)
    let readers = Self.sorted(chat.readers)
    let other = HostID.new()
    // Each reader has read every third message, some twice; the first is also the writer of every fifth.
    try await chat.database.sql(
      """
      insert into public.messages (conversation_id, from_id, text, created_at, read_by)
      select '\(chat.id)', case when n % 5 = 0 then r.ids[1] else '\(chat.sender)' end, 'x', now() - n * interval '1 minute',
        array(select r.ids[k] from generate_series(1, 9) k where (n + k) % 3 = 0) || r.ids[1 + n % 2]
      from generate_series(1, 60) n, (select \(readers) as ids) r;
      insert into tacet.unread_marks (user_id, conversation_id, read_until)
      select r.id, '\(chat.id)', now() - 30 * interval '1 minute' from unnest(\(readers)) with ordinality as r (id, place)
      where place % 2 = 0;
      insert into conversations (id) values ('\(other)');
      insert into conversation_participants (conversation_id, user_id) values ('\(other)', '\(chat.reader)');
      insert into messages (conversation_id, from_id) values ('\(other)', '\(chat.sender)'), ('\(other)', '\(chat.sender)')
      """)
    let each = "array(select tacet.unread_count(r) from unnest(\(readers)) r order by r)"
    for badgeMax in [999, 25] {
      let areSame = "set tacet.badge_max = '\(badgeMax)'; select tacet.unread_counts(\(readers), '1 hour') = \(each)"
      #expect(try await chat.database.sql(areSame) == "t")
    }
  }

  @Test("who is not counted in time has no badge")
  func noTime() async throws {
    let chat = try await Chat(readers: 9)
    try await chat.send()
    let readers = Self.sorted(chat.readers + [chat.sender])
    let badges = "select count(*), count(b) from unnest(tacet.unread_counts(\(readers), '0')) b"
    #expect(try await chat.database.sql(badges) == "10|0")
    try await chat.database.sql(Self.seven)
    #expect(try await chat.database.sql(badges) == "10|0")
    let sevens = "select count(*) from unnest(tacet.unread_counts(\(readers), '1 hour')) b where b = 7"
    #expect(try await chat.database.sql(sevens) == "10")
  }

  @Test(
    "whatever people write, read, unread and leave, the count is what counting everything gives", arguments: [3, 9])
  func timelines(readers: Int) async throws {
    var random = SeededGenerator(seed: 20_261_122)
    for _ in 0..<(12 / readers) { try await timeline(&random, readers: readers) }
  }

  /// An expression for the ids in the database's order.
  static func sorted(_ ids: [HostID]) -> String {
    "array(select i from unnest('{\(ids.map { "\($0)" }.joined(separator: ","))}'::uuid[]) i order by i)"
  }

  private func timeline(_ random: inout SeededGenerator, readers: Int) async throws {
    let chat = try await Chat(readers: readers)
    let people = chat.readers + [chat.sender]
    let all = Self.sorted(people)
    for _ in 0..<40 {
      let person = people.randomElement(using: &random) ?? chat.sender
      let age = "now() - \(Int.random(in: 0...90, using: &random)) * interval '1 minute'"
      let some = "conversation_id = '\(chat.id)' and hashtext(id::text) % 3 = \(Int.random(in: 0...2, using: &random))"
      let statement =
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          // Never before a mark: dates of the past are the other test's.
          """
          insert into public.messages (conversation_id, from_id, text, created_at)
          select '\(chat.id)', '\(person)', 'x',
            greatest(\(age), (select max(k.read_until) from tacet.unread_marks k)) + n * interval '1 second'
          from generate_series(1, 9) n
          """
        case 2, 3:
          """
          update public.messages set read_by = array_append(read_by, '\(person)')
          where conversation_id = '\(chat.id)' and not ('\(person)' = any (read_by))
            and created_at < \(age)
          """
        case 4: "update public.messages set read_by = array_remove(read_by, '\(person)') where \(some)"
        default: "delete from public.messages where \(some) and created_at < \(age)"
        }
      try await chat.database.sql(statement)
      if Bool.random(using: &random) { try await move(chat, people) }
      let each = people.map { "tacet.unread_count('\($0)') = \(Self.counted(for: $0))" }
      let together = """
        tacet.unread_counts(\(all), '1 hour') = array(select tacet.unread_count(p) from unnest(\(all)) p order by p)
        """
      let areSame = "select \((each + [together]).joined(separator: " and "))"
      #expect(try await chat.database.sql(areSame) == "t", "after \(statement)")
    }
  }
}

// A count that the host replaces while sessions have plans with the default.
extension UnreadMarkTests {
  @Test("a host's own count is asked at once, and the default again, also by a session that has claimed before")
  func replaced() async throws {
    let chat = try await Chat()
    try await chat.register("a1")
    let kept = try await chat.database.sql("select pg_get_functiondef('tacet.unread_count(uuid)'::regprocedure)")
    let badges = try await withStore(chat.database) { store, reactor in
      var badges: [Int?] = []
      for definition in ["select 1", Self.seven, kept] {
        try await chat.database.sql(definition)
        for isOfEverything in [false, true] {
          try await chat.send()
          let limits = ClaimLimits(eventsMax: 10, deliveriesMax: 10, lease: .seconds(60))
          let events =
            try await isOfEverything ? store.claim(limits, on: reactor) : store.claimMessages(limits, on: reactor)
          badges += events.flatMap(\.recipients).map(\.badge)
          try await chat.database.sql("delete from tacet.inbox")
        }
      }
      return badges
    }
    #expect(badges == [1, 2, 7, 7, 5, 6])
  }

  @Test("a session that has counted for many and moved marks asks a new count, too")
  func replacedForMany() async throws {
    let chat = try await Chat(readers: 9)
    let readers = Self.sorted(chat.readers)
    let use =
      "select tacet.move_unread_marks(\(readers)); select tacet.unread_counts(\(readers), '1 hour') = array_fill(%, '{9}');"
    try await chat.send()
    let (before, after) = (use.replacing("%", with: "1::bigint"), use.replacing("%", with: "7::bigint"))
    #expect(try await chat.database.sql("\(before) \(Self.seven); \(after)").filter("tf".contains) == "tt")
  }
}
