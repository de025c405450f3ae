import Foundation
import Postgres
import PushKinds
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Pruning", .uuidsOnly)
struct PruneTests {
  private static let retention = Duration.seconds(86_400)

  @Test("rows younger than the retention stay, older ones go", arguments: PrunedTable.allCases)
  func edge(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 2, age: "interval '1 day' - interval '1 minute'", in: database)
    try await fill(table, 3, age: "interval '1 day' + interval '1 second'", in: database)
    #expect(try await prune(table, in: database) == 3)
    #expect(try await prune(table, in: database) == 0)
    #expect(try await count(table, in: database) == "2")
  }

  @Test("a row of exactly that age stays, one a microsecond older goes", arguments: PrunedTable.allCases)
  func exactEdge(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await withSessions(database, 1) { sessions, reactor in
      // The time of a transaction stands still, so a row's age can be told to the microsecond.
      try await sessions[0].run("begin", on: reactor)
      for age in ["interval '1 day'", "interval '1 day 1 microsecond'"] {
        try await sessions[0].run(insertion(table, 1, age: age), on: reactor)
      }
      #expect(try await prune(table, over: sessions[0], on: reactor) == 1)
      try await sessions[0].run("commit", on: reactor)
    }
    #expect(try await count(table, in: database) == "1")
  }

  @Test("what is held stays, however old", arguments: ["sent", "skipped", "failed", "held"])
  func held(_ decision: String) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(.ledger, 1, age: "interval '3650 days'", decision: decision, in: database)
    #expect(try await prune(.ledger, in: database) == (decision == "held" ? 0 : 1))
  }

  @Test("an error whose events are still missing in the inbox stays")
  func missed() async throws {
    let database = try await TestDatabase.migrated()
    try await fill(.triggerFailures, 2, age: "interval '2 days'", in: database)
    try await database.sql(
      "update tacet.trigger_failures set subject_ids = '{\(HostID.new())}' where ctid = (select min(ctid) from tacet.trigger_failures)"
    )
    #expect(try await prune(.triggerFailures, in: database) == 1)
    #expect(try await database.sql("select cardinality(subject_ids) from tacet.trigger_failures") == "1")
  }

  @Test(
    "a batch is a thousand rows, the oldest first",
    arguments: PrunedTable.allCases.filter { ![.surfaceViews, .unreadMarks, .contents, .bursts].contains($0) })
  func batches(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 200, age: "interval '2 days'", in: database)
    try await fill(table, 1000, age: "interval '3 days'", in: database)
    try await withStore(database) { store, reactor in
      let first = try await store.prune(table, olderThan: Self.retention, on: reactor)
      #expect(first == (1000, true))
    }
    #expect(
      try await database.sql("select count(*) from \(name(table)) where \(time(table)) < now() - interval '60 h'")
        == "0")
    try await withStore(database) { store, reactor in
      let second = try await store.prune(table, olderThan: Self.retention, on: reactor)
      #expect(second == (200, false))
    }
  }

  @Test("two pruners at once share the rows, and neither waits for the other", arguments: PrunedTable.allCases)
  func together(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 1500, age: "interval '2 days'", in: database)
    try await withTwoSessions(database) { first, second, reactor in
      // The first keeps its transaction open, so that the second meets its locks.
      try await first.run("begin", on: reactor)
      #expect(try await prune(table, over: first, on: reactor) == 1000)
      #expect(try await prune(table, over: second, on: reactor) == 500)
      try await first.run("commit", on: reactor)
    }
    #expect(try await count(table, in: database) == "0")
  }

  @Test("a row that a record is writing is left alone")
  func beingWritten() async throws {
    let database = try await TestDatabase.migrated()
    try await fill(.ledger, 2, age: "interval '2 days'", in: database)
    try await withTwoSessions(database) { recorder, pruner, reactor in
      try await recorder.run(
        """
        begin; update tacet.push_log set decision = 'sent' where id = (select min(id::text)::uuid from tacet.push_log)
        """, on: reactor)
      #expect(try await prune(.ledger, over: pruner, on: reactor) == 1)
      try await recorder.run("commit", on: reactor)
    }
    #expect(try await count(.ledger, in: database) == "1")
  }

  @Test("a role with the rights of db/README.md prunes, in spite of row-level security")
  func serviceRole() async throws {
    let database = try await TestDatabase.migrated()
    try await fill(.ledger, 2, age: "interval '2 days'", in: database)
    let role = try await makeRole(in: database, "select tacet.grant_service('$role')")
    let pruned = try await database.sql(
      """
      set role \(role); prepare p (bigint) as \(PushStatements.pruneLedger.sql); execute p (86400000000)
      """)
    #expect(pruned == "2")
  }
}

extension PruneTests {
  private func prune(_ table: PrunedTable, in database: TestDatabase) async throws -> Int {
    try await withStore(database) { store, reactor in
      try await store.prune(table, olderThan: Self.retention, on: reactor).rows
    }
  }

  private func prune(_ table: PrunedTable, over session: Session, on reactor: isolated Reactor) async throws -> Int64 {
    let rows = try await session.connection.query(
      table.pruning(retention: Self.retention.wholeMicroseconds), on: reactor)
    return try rows.one().decode(0)
  }

  private func fill(
    _ table: PrunedTable, _ rows: Int, age: String, decision: String = "skipped", in database: TestDatabase
  ) async throws {
    try await database.sql(insertion(table, rows, age: age, decision: decision))
  }

  /// - Parameter age: an SQL expression.
  private func insertion(_ table: PrunedTable, _ rows: Int, age: String, decision: String = "skipped") -> String {
    let columns =
      switch table {
      case .ledger: "user_id, subject_id, push_type, decision"
      case .parked: "enqueued_at, subject_id, kind, attempts, reason"
      case .triggerFailures: "sqlstate, message"
      case .surfaceViews: "surface_kind, surface_id, user_id"
      case .readSyncs: "user_id, conversation_id, message_ids"
      case .pushes: "user_id, kind, title, body"
      case .cancellations: "cancel_key"
      case .instances: "id, host, pid, version"
      case .unreadMarks: "read_until, user_id, conversation_id"
      case .campaignDecisions: "due_at, local_day, user_id, run_id, campaign, time_zone"
      case .campaignRuns: "due_at, campaign, cause"
      case .campaignSlots: "local_day, campaign, time_zone"
      case .slotRows: "available_at, user_id, campaign, slot, fire_date, time_zone"
      case .slotReports: "happened_at, id, user_id, code"
      case .contents: "fire_date, user_id, campaign, slot"
      case .sessions: "last_at, user_id"
      case .liveActivities: "id, user_id, type, state"
      case .liveActivityUpdates: "activity_id, version, available_at, event, priority, state, unix_time"
      case .targets: "channel, address, user_id"
      case .bursts: "user_id, surface_id, first_subject, latest_subject, latest_at, latest_attempts, members"
      case .comparedPushes: "subject_id, user_id"
      case .hostEvents: "user_id, type, state"
      }
    let values =
      switch table {
      case .ledger: "gen_random_uuid(), gen_random_uuid(), 'message', '\(decision)'"
      case .parked: "now(), gen_random_uuid(), 'message', 1, 'test'"
      case .triggerFailures: "'XX000', 'test'"
      case .surfaceViews: "'calendar', gen_random_uuid(), gen_random_uuid()"
      case .readSyncs: "gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()]"
      case .pushes: "gen_random_uuid(), 'push', 'test', ''"
      case .cancellations: "gen_random_uuid()::text"
      case .instances: "gen_random_uuid()::text, 'host', 1, '1.0'"
      case .unreadMarks: "now(), gen_random_uuid(), gen_random_uuid()"
      case .campaignDecisions: "now(), current_date, gen_random_uuid(), gen_random_uuid(), 'coach', 'UTC'"
      case .campaignRuns: "now(), 'coach', 'schedule'"
      case .campaignSlots: "current_date, 'coach', gen_random_uuid()::text"
      case .slotRows: "now(), gen_random_uuid(), 'ritual', '0800', current_date, 'UTC'"
      case .slotReports: "now(), gen_random_uuid(), gen_random_uuid(), 'armed'"
      case .contents: "current_date, gen_random_uuid(), 'ritual', '0800'"
      case .sessions: "now(), gen_random_uuid()"
      case .liveActivities: "gen_random_uuid()::text, gen_random_uuid(), 'WorkoutActivityAttributes', '{}'"
      case .liveActivityUpdates: "'run', floor(random() * 2e9)::int, now(), 'update', 5, '{}', 0"
      case .targets: "'fcm', gen_random_uuid()::text, gen_random_uuid()"
      case .bursts: "gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), 1, '{1}'"
      case .comparedPushes: "gen_random_uuid(), gen_random_uuid()"
      case .hostEvents: "gen_random_uuid(), 'push.sent', 'dead'"
      }
    let activity = """
      insert into tacet.activities (id, user_id, type, state)
      values ('run', gen_random_uuid(), 'WorkoutActivityAttributes', '{}') on conflict do nothing;
      """
    return """
      \(table == .liveActivityUpdates ? activity : "")
      insert into \(name(table)) (\(time(table)), \(columns)) select now() - (\(age)), \(values)
      from generate_series(1, \(rows))
      """
  }

  private func count(_ table: PrunedTable, in database: TestDatabase) async throws -> String {
    try await database.sql("select count(*) from \(name(table))")
  }

  private func name(_ table: PrunedTable) -> String {
    switch table {
    case .ledger: "tacet.push_log"
    case .parked: "tacet.parked"
    case .triggerFailures: "tacet.trigger_failures"
    case .surfaceViews: "tacet.surface_views"
    case .readSyncs: "tacet.read_syncs"
    case .pushes: "tacet.pushes"
    case .cancellations: "tacet.cancellations"
    case .instances: "tacet.instances"
    case .unreadMarks: "tacet.unread_marks"
    case .campaignDecisions: "tacet.campaign_decisions"
    case .campaignRuns: "tacet.campaign_runs"
    case .campaignSlots: "tacet.campaign_slots"
    case .slotRows: "tacet.notif_deliveries"
    case .slotReports: "tacet.notif_events"
    case .contents: "tacet.notif_contents"
    case .sessions: "tacet.user_sessions"
    case .liveActivities: "tacet.activities"
    case .liveActivityUpdates: "tacet.activity_updates"
    case .targets: "tacet.targets"
    case .bursts: "tacet.bursts"
    case .comparedPushes: "tacet.compared_pushes"
    case .hostEvents: "tacet.host_events"
    }
  }

  private func time(_ table: PrunedTable) -> String {
    switch table {
    case .ledger: "enqueued_at"
    case .parked: "parked_at"
    case .triggerFailures: "failed_at"
    case .surfaceViews: "last_seen"
    case .readSyncs: "available_at"
    case .pushes: "created_at"
    case .cancellations: "cancelled_at"
    case .instances: "seen_at"
    case .unreadMarks: "built_at"
    case .campaignDecisions: "enrolled_at"
    case .campaignRuns: "started_at"
    case .campaignSlots: "due_at"
    case .slotRows: "fire_at"
    case .slotReports: "received_at"
    case .contents: "attempted_at"
    case .sessions: "began_at"
    case .liveActivities: "ended_at"
    case .liveActivityUpdates: "created_at"
    case .targets: "dropped_at"
    case .bursts: "sounded_at"
    case .comparedPushes: "sent_at"
    case .hostEvents: "ended_at"
    }
  }
}
