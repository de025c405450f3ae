import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("Presence")
struct PresenceTests {
  @Test("a look and having left are written, for those who take part alone")
  func standings() async throws {
    let chat = try await Chat()
    let stranger = HostID.new()
    let view = SurfaceView(of: .conversation(chat.id), by: chat.reader)
    let strange = SurfaceView(of: .conversation(chat.id), by: stranger)
    let nowhere = SurfaceView(of: .conversation(HostID.new()), by: chat.reader)
    let sender = SurfaceView(of: .conversation(chat.id), by: chat.sender)
    let other = SurfaceView(of: SurfaceID(kind: "calendar", id: HostID.new()), by: chat.reader)
    let standings = try await withStore(chat.database) {
      try await $0.note(
        [
          view: PresenceReport(.looking), strange: PresenceReport(.looking), nowhere: PresenceReport(.left),
          sender: PresenceReport(.left), other: PresenceReport(.looking),
        ], on: $1)
    }
    #expect(
      standings == [view: .viewer, strange: .stranger, nowhere: .unknown, sender: .viewer, other: .unknown])
    #expect(try await chat.presence(of: chat.reader) == "seen")
    #expect(try await chat.presence(of: chat.sender) == "left")
  }

  /// What is said one after the other, each written alone or all at once, and what stands then.
  private static let stories: [(signs: [PresenceSign], end: String)] = [
    ([.looking], "seen"), ([.left], "left"), ([.looking, .left], "seen, left"), ([.left, .looking], "seen"),
    ([.looking, .left, .looking], "seen"), ([.left, .looking, .left], "seen, left"), ([.looking, .looking], "seen"),
    ([.left, .left], "left"),
  ]

  @Test("leaving erases no look, a look ends having left", arguments: stories, [true, false])
  func order(_ story: (signs: [PresenceSign], end: String), _ isOneBatch: Bool) async throws {
    let chat = try await Chat()
    if isOneBatch {
      var report = PresenceReport(story.signs[0])
      for sign in story.signs.dropFirst() { report.add(sign) }
      try await chat.report(report)
    } else {
      for sign in story.signs { try await chat.report(PresenceReport(sign)) }
    }
    #expect(try await chat.presence(of: chat.reader) == story.end)
  }

  /// What stands there before a look, and whether that writes the row anew.
  private static let repeats: [(seen: String, left: String, isWritten: Bool)] = [
    ("now() - interval '4 min'", "null", false), ("now() - interval '6 min'", "null", true),
    ("now() + interval '4 min'", "null", true), ("null", "null", true),
    ("now() - interval '4 min'", "now() - interval '3 min'", true),
    ("now() - interval '4 min'", "now() - interval '5 min'", false),
  ]

  /// A busy machine takes longer for a test than the five seconds for which a look is not written again.
  fileprivate static func makeSecondsMinutes(in database: TestDatabase) async throws {
    let within = "select tacet.presence_repeats_within()"
    #expect(try await database.sql(within) == "00:00:05")
    try await database.sql(
      """
      create or replace function tacet.presence_repeats_within() returns interval language sql immutable parallel safe
      as $$ select interval '5 minutes' $$
      """)
  }

  @Test("a look that was just reported is not written again", arguments: repeats)
  func repeated(_ seen: String, _ left: String, _ isWritten: Bool) async throws {
    let chat = try await Chat()
    try await Self.makeSecondsMinutes(in: chat.database)
    try await chat.see(seen, left: left)
    let before = try await chat.row()
    try await chat.report(PresenceReport(.looking))
    let after = try await chat.row()
    #expect((after != before) == isWritten)
  }

  @Test("a look right after another is written when a message has come between the two")
  func newMessage() async throws {
    let chat = try await Chat()
    try await Self.makeSecondsMinutes(in: chat.database)
    try await chat.see("now() - interval '2 min'")
    let before = try await chat.row()
    try await chat.send("'Hello'", ["created_at": "now() - interval '3 min'"])
    try await chat.report(PresenceReport(.looking))
    #expect(try await chat.row() == before)
    try await chat.send("'Hello'", ["created_at": "now() - interval '1 min'"])
    try await chat.report(PresenceReport(.looking))
    #expect(try await chat.row() != before)
  }

  @Test("a look from a client's clock that is ahead is replaced, and leaving ends it")
  func future() async throws {
    let chat = try await Chat()
    try await chat.see("now() + interval '1 h'")
    try await chat.report(PresenceReport(.left))
    #expect(try await chat.presence(of: chat.reader) == "seen, left")
    try await chat.report(PresenceReport(.looking))
    #expect(try await chat.presence(of: chat.reader) == "seen")
    #expect(
      try await chat.database.sql("select max(last_seen) <= clock_timestamp() from conversation_participants") == "t")
  }

  @Test("a hold ends at once when its reader looks or leaves", arguments: [PresenceSign.looking, .left])
  func release(_ sign: PresenceSign) async throws {
    let scene = try await HeldScene.held()
    #expect(try await claim(scene.chat.database) == [])
    try await scene.chat.report(PresenceReport(sign))
    let news: News = sign == .looking ? .seen : .leftScreen
    #expect(news.isKnown(to: try await claim(scene.chat.database)))
  }

  @Test("a hold that is recorded while the look is written is found by the review")
  func holdDuringLook() async throws {
    let scene = try await HeldScene.waiting()
    try await withTwoSessions(scene.chat.database) { app, service, reactor in
      let claimed = try await service.claim(on: reactor)
      try await service.beginRecord(claimed, on: reactor) { .held($0) }
      try await app.note(scene.chat, PresenceReport(.looking), on: reactor)
      try await service.run("commit", on: reactor)
      #expect(try await service.claim(on: reactor) == [])
      #expect(try await service.review([scene.hold], on: reactor) == 1)
      #expect(News.seen.isKnown(to: try await service.claim(on: reactor)))
    }
  }

  @Test(
    "looking and leaving at the same time: the later one is told to come again, and stands at the end",
    arguments: [true, false])
  func race(_ isLeavingLast: Bool) async throws {
    let chat = try await Chat()
    let signs: [PresenceSign] = isLeavingLast ? [.looking, .left] : [.left, .looking]
    let view = SurfaceView(of: .conversation(chat.id), by: chat.reader)
    try await withSessions(chat.database, 1) { sessions, reactor in
      let first = sessions[0]
      try await first.run("begin", on: reactor)
      try await first.note(chat, PresenceReport(signs[0]), on: reactor)
      #expect(
        try await withStore(chat.database) { try await $0.note([view: PresenceReport(signs[1])], on: $1) } == [
          view: .busy
        ])
      try await first.run("commit", on: reactor)
    }
    try await chat.report(PresenceReport(signs[1]))
    #expect(try await chat.presence(of: chat.reader) == (isLeavingLast ? "seen, left" : "seen"))
  }

  @Test("a transaction of the host is not waited for, so it ends in no deadlock; only what it has locked comes again")
  func hostLocks() async throws {
    let chat = try await Chat(readers: 3)
    let views = chat.readers.map { SurfaceView(of: .conversation(chat.id), by: $0) }
    let reports = Dictionary(uniqueKeysWithValues: views.map { ($0, PresenceReport(.left)) })
    try await withTwoSessions(chat.database) { host, app, reactor in
      let lock = "update public.conversation_participants set tacet_left_at = null where user_id = "
      try await host.run("begin; \(lock)'\(chat.readers[2])'", on: reactor)
      try await app.run("begin", on: reactor)
      try await app.note(chat, chat.readers, PresenceReport(.left), on: reactor)
      let next = Begun.begin(on: reactor) { try await host.run("\(lock)'\(chat.readers[0])'", on: reactor) }
      try await app.awaitBlocked(host, on: reactor)
      try await app.run("commit", on: reactor)
      try await next.value(on: reactor)
      let standings = try await withStore(chat.database) { try await $0.note(reports, on: $1) }
      #expect(standings == [views[0]: .busy, views[1]: .viewer, views[2]: .busy])
      try await host.run("commit", on: reactor)
    }
    let standings = try await withStore(chat.database) { try await $0.note(reports, on: $1) }
    #expect(Set(standings.values) == [.viewer])
    for reader in chat.readers { #expect(try await chat.presence(of: reader) == "left") }
  }

  @Test("batches of the same users in opposite orders do not wait for each other")
  func opposite() async throws {
    let chat = try await Chat(readers: 40)
    try await withTwoSessions(chat.database) { one, other, reactor in
      let first = Begun.begin(on: reactor) {
        for _ in 0..<50 { try await one.note(chat, chat.readers, PresenceReport(.left), on: reactor) }
      }
      for _ in 0..<50 { try await other.note(chat, chat.readers.reversed(), PresenceReport(.left), on: reactor) }
      try await first.value(on: reactor)
    }
    let left = "select count(tacet_left_at) from conversation_participants"
    #expect(try await chat.database.sql(left) == "40")
  }

  @Test("a host with other tables knows nobody until it has replaced the functions, which are then asked")
  func otherTables() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql("create table public.conversation_participants (room bigint, member bigint)")
    try await database.apply(Repository.hostTables)
    try await database.apply(Repository.install)
    let view = SurfaceView(of: .conversation(HostID.new()), by: HostID.new())
    let unknown = try await withStore(database) { try await $0.note([view: PresenceReport(.looking)], on: $1) }
    #expect(unknown == [view: .unknown])
    try await database.sql(
      """
      create table public.looks (room uuid, member uuid, looked boolean, gone boolean);
      create or replace function tacet.view_conversations(
        conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
      )
      returns table (conversation_id uuid, user_id uuid, is_participant boolean, is_skipped boolean)
      language sql volatile
      as $$
        insert into public.looks
        select * from unnest(conversation_ids, user_ids, have_looked, have_left)
        returning room, member, true, false
      $$
      """)
    let known = try await withStore(database) { try await $0.note([view: PresenceReport(.looking)], on: $1) }
    #expect(known == [view: .viewer])
    #expect(try await database.sql("select looked, gone from public.looks") == "t|f")
  }
}

@Suite("Presence on other surfaces")
struct SurfacePresenceTests {
  /// A database whose host has calendars, which one user may view and everybody knows.
  private func calendars() async throws -> (database: TestDatabase, calendar: SurfaceID, user: HostID) {
    let database = try await TestDatabase.migrated()
    let (calendar, user) = (SurfaceID(kind: "calendar", id: HostID.new()), HostID.new())
    try await database.sql(
      """
      create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
      language sql stable as $$
        select may_view.user_id = '\(user)'
        where may_view.surface_kind = 'calendar' and may_view.surface_id = '\(calendar.id)'
      $$
      """)
    return (database, calendar, user)
  }

  private func note(_ sign: PresenceSign, _ view: SurfaceView, in database: TestDatabase) async throws {
    let standings = try await withStore(database) { try await $0.note([view: PresenceReport(sign)], on: $1) }
    #expect(standings == [view: .viewer])
  }

  /// Whether the only view was seen, and has been left since, in words; and where its row stands.
  private let presence = """
    select concat_ws(', ', case when last_seen is not null then 'seen' end,
      case when left_at >= coalesce(last_seen, left_at) then 'left' end)
    from tacet.surface_views
    """

  @Test("the host is asked who may view what, and only a viewer's look is written")
  func standings() async throws {
    let (database, calendar, user) = try await calendars()
    let view = SurfaceView(of: calendar, by: user)
    let strange = SurfaceView(of: calendar, by: HostID.new())
    let nowhere = SurfaceView(of: SurfaceID(kind: "calendar", id: HostID.new()), by: user)
    let unheard = SurfaceView(of: SurfaceID(kind: "map", id: calendar.id), by: user)
    let reports = [view, strange, nowhere, unheard].map { ($0, PresenceReport(.looking)) }
    let standings = try await withStore(database) {
      try await $0.note(Dictionary(uniqueKeysWithValues: reports), on: $1)
    }
    #expect(standings == [view: .viewer, strange: .stranger, nowhere: .unknown, unheard: .unknown])
    #expect(try await database.sql("select surface_kind, user_id = '\(user)' from tacet.surface_views") == "calendar|t")
  }

  @Test("leaving erases no look, a look ends having left")
  func order() async throws {
    let (database, calendar, user) = try await calendars()
    let view = SurfaceView(of: calendar, by: user)
    for (sign, end) in [(PresenceSign.looking, "seen"), (.left, "seen, left"), (.looking, "seen")] {
      try await note(sign, view, in: database)
      #expect(try await database.sql(presence) == end)
    }
  }

  @Test("a view that somebody has locked is not waited for; others are written, and its hold stays")
  func locked() async throws {
    let (database, calendar, user) = try await calendars()
    try await database.sql(
      """
      create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
      language sql stable as 'select true'
      """)
    let (view, other) = (SurfaceView(of: calendar, by: user), SurfaceView(of: calendar, by: HostID.new()))
    try await note(.looking, view, in: database)
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, conversation_id)
      values (now() + interval '1 h', now(), gen_random_uuid(), '\(user)', 'slot', 'held', '\(calendar.id)')
      """)
    let due = "select count(*) from tacet.deliveries where due_at <= clock_timestamp()"
    try await withSessions(database, 1) { sessions, reactor in
      try await sessions[0].run("begin; select from tacet.surface_views for update", on: reactor)
      let reports = [view: PresenceReport(.left), other: PresenceReport(.left)]
      #expect(try await withStore(database) { try await $0.note(reports, on: $1) } == [view: .busy, other: .viewer])
      #expect(try await database.sql(due) == "0")
      try await sessions[0].run("commit", on: reactor)
    }
    try await note(.left, view, in: database)
    #expect(try await database.sql(due) == "1")
    #expect(try await database.sql("select count(left_at) from tacet.surface_views") == "2")
  }

  @Test("a look that was just reported is not written again")
  func repeated() async throws {
    let (database, calendar, user) = try await calendars()
    let view = SurfaceView(of: calendar, by: user)
    let row = "select ctid, xmin from tacet.surface_views"
    try await PresenceTests.makeSecondsMinutes(in: database)
    try await note(.looking, view, in: database)
    let first = try await database.sql(row)
    try await note(.looking, view, in: database)
    #expect(try await database.sql(row) == first)
    try await database.sql("update tacet.surface_views set last_seen = now() - interval '6 min'")
    let older = try await database.sql(row)
    try await note(.looking, view, in: database)
    #expect(try await database.sql(row) != older)
  }

  @Test(
    "what is held for a user there ends at once, whatever is held elsewhere or for others", arguments: [true, false])
  func release(_ isLooking: Bool) async throws {
    let (database, calendar, user) = try await calendars()
    let held = (subject: HostID.new(), other: HostID.new())
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, conversation_id) values
        (now() + interval '1 h', now(), '\(held.subject)', '\(user)', 'slot', 'held', '\(calendar.id)'),
        (now() + interval '1 h', now(), '\(held.other)', '\(user)', 'slot', 'held', '\(HostID.new())'),
        (now() + interval '1 h', now(), '\(held.subject)', '\(HostID.new())', 'slot', 'held', '\(calendar.id)')
      """)
    try await note(isLooking ? .looking : .left, SurfaceView(of: calendar, by: user), in: database)
    let due = "select subject_id, user_id from tacet.deliveries where due_at <= clock_timestamp()"
    #expect(try await database.sql(due) == "\(held.subject)|\(user)".lowercased())
  }

  @Test("updates stay on their page, beside no index")
  func heapOnly() async throws {
    let (database, calendar, user) = try await calendars()
    try await withStore(database) { store, reactor in
      for number in 0..<20 {
        let sign: PresenceSign = number.isMultiple(of: 2) ? .looking : .left
        _ = try await store.note([SurfaceView(of: calendar, by: user): PresenceReport(sign)], on: reactor)
      }
    }
    // A session hands over its counts when it ends, which is a moment after its client has left.
    let counts = """
      do $$ begin
        while exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
          and backend_type = 'client backend')
        loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop;
      end $$;
      select n_tup_upd > 0 and n_tup_upd = n_tup_hot_upd from pg_stat_user_tables where relname = 'surface_views'
      """
    #expect(try await database.sql(counts).hasSuffix("t"))
  }

  @Test("views that nobody has renewed for the retention are pruned, the others stay")
  func pruned() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.surface_views (surface_kind, surface_id, user_id, last_seen, left_at) values
        ('a', gen_random_uuid(), gen_random_uuid(), now() - interval '3 days', null),
        ('b', gen_random_uuid(), gen_random_uuid(), null, now() - interval '3 days'),
        ('c', gen_random_uuid(), gen_random_uuid(), now() - interval '3 days', now() - interval '1 day'),
        ('d', gen_random_uuid(), gen_random_uuid(), now() - interval '1 day', null)
      """)
    let rows = try await withStore(database) {
      try await $0.prune(PrunedTable.surfaceViews.rawValue, olderThan: .seconds(2 * 86400), on: $1).rows
    }
    #expect(rows == 2)
    #expect(
      try await database.sql("select string_agg(surface_kind, '' order by surface_kind) from tacet.surface_views")
        == "cd")
  }

  @Test("a deleted user's views go with the user")
  func deletedUser() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      insert into tacet.surface_views (surface_kind, surface_id, user_id)
      values ('a', gen_random_uuid(), '\(chat.reader)'), ('a', gen_random_uuid(), '\(chat.sender)');
      delete from public.profiles where id = '\(chat.reader)'
      """)
    try await erase(chat.database)
    #expect(try await chat.database.sql("select user_id from tacet.surface_views") == "\(chat.sender)".lowercased())
  }
}
