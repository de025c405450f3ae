import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

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
    try await note(.looking, view, in: database)
    let first = try await database.sql(row)
    try await note(.looking, view, in: database)
    #expect(try await database.sql(row) == first)
    try await database.sql("update tacet.surface_views set last_seen = now() - interval '6 s'")
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
