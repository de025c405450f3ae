import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Pruning", .uuidsOnly)
struct PruneTests {
  private static let retention = Duration.seconds(86_400)

  @Test("the tables that are pruned are those of the tests")
  func tables() async throws {
    try await withStore(try await TestDatabase.migrated()) { store, reactor in
      let tables = try await store.prunedTables(on: reactor)
      #expect(tables == PrunedTable.allCases.map(\.rawValue))
    }
  }

  @Test("rows younger than the retention stay, older ones go", arguments: PrunedTable.allCases)
  func edge(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 2, age: "interval '\(table.keptDays) days' - interval '1 minute'", in: database)
    try await fill(table, 3, age: "interval '\(table.keptDays) days' + interval '1 second'", in: database)
    #expect(try await prune(table, in: database) == 3)
    #expect(try await prune(table, in: database) == 0)
    #expect(try await count(table, in: database) == "2")
  }

  @Test(
    "a cancellation is known as long as the latest push that it can concern, and nothing else is kept longer than asked"
  )
  func cancellations() async throws {
    let latest = ServicePushRequest.waitSecondsMax + ServicePushRequest.lifeSecondsMax
    let kept = try await TestDatabase.migrated().sql(
      "select name, needed_for >= interval '\(latest) s' from tacet.retentions() where needed_for > interval '0'")
    #expect(kept == "cancellations|t")
  }

  @Test("a row of exactly that age stays, one a microsecond older goes", arguments: PrunedTable.allCases)
  func exactEdge(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await withSessions(database, 1) { sessions, reactor in
      // The time of a transaction stands still, so a row's age can be told to the microsecond.
      try await sessions[0].run("begin", on: reactor)
      for age in ["", " 1 microsecond"] {
        try await sessions[0].run(
          table.insertion(of: 1, age: "interval '\(table.keptDays) days\(age)'"), on: reactor)
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

  @Test("old pushes go although more than a batch of older ones is still to be sent")
  func scheduled() async throws {
    let database = try await TestDatabase.migrated()
    try await fill(.pushes, 1001, age: "interval '20 days'", in: database)
    try await database.sql("update tacet.pushes set send_at = now() + interval '1 day'")
    try await fill(.pushes, 2, age: "interval '2 days'", in: database)
    #expect(try await prune(.pushes, in: database) == 2)
    #expect(try await count(.pushes, in: database) == "1001")
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
    arguments: PrunedTable.allCases.filter {
      ![.surfaceViews, .unreadMarks, .contents, .cancellations].contains($0)
    })
  func batches(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 200, age: "interval '2 days'", in: database)
    try await fill(table, 1000, age: "interval '3 days'", in: database)
    try await withStore(database) { store, reactor in
      let first = try await store.prune(table.rawValue, olderThan: Self.retention, on: reactor)
      #expect(first == (1000, true))
    }
    #expect(
      try await database.sql(
        "select count(*) from \(table.sqlName) where \(table.timeColumn) < now() - interval '60 h'")
        == "0")
    try await withStore(database) { store, reactor in
      let second = try await store.prune(table.rawValue, olderThan: Self.retention, on: reactor)
      #expect(second == (200, false))
    }
  }

  @Test("two pruners at once share the rows, and neither waits for the other", arguments: PrunedTable.allCases)
  func together(_ table: PrunedTable) async throws {
    let database = try await TestDatabase.migrated()
    try await fill(table, 1500, age: "interval '\(2 * table.keptDays) days'", in: database)
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
      set role \(role); prepare p (text, bigint) as \(PushStatements.prune.sql);
      execute p ('push_log', 86400000000)
      """)
    #expect(pruned == "2")
  }
}

extension PruneTests {
  private func prune(_ table: PrunedTable, in database: TestDatabase) async throws -> Int {
    try await withStore(database) { store, reactor in
      try await store.prune(table.rawValue, olderThan: Self.retention, on: reactor).rows
    }
  }

  private func prune(_ table: PrunedTable, over session: Session, on reactor: isolated Reactor) async throws -> Int64 {
    let rows = try await session.connection.query(
      StatementCall.prune(tableName: table.rawValue, retentionMicroseconds: Self.retention.wholeMicroseconds),
      on: reactor)
    return try rows.one().decode(0)
  }

  private func fill(
    _ table: PrunedTable, _ rows: Int, age: String, decision: String = "skipped", in database: TestDatabase
  ) async throws {
    try await database.sql(table.insertion(of: rows, age: age, decision: decision))
  }

  private func count(_ table: PrunedTable, in database: TestDatabase) async throws -> String {
    try await database.sql("select count(*) from \(table.sqlName)")
  }
}

/// A table that is pruned, and rows of it as tests make them.
enum PrunedTable: String, CaseIterable {
  case ledger = "push_log"
  case parked
  case triggerFailures = "trigger_failures"
  case surfaceViews = "surface_views"
  case readSyncs = "read_syncs"
  case pushes
  case cancellations
  case instances
  case unreadMarks = "unread_marks"
  case campaignRuns = "campaign_runs"
  case occasions
  case slotReports = "notif_events"
  case contents = "notif_contents"
  case sessions = "user_sessions"
  case liveActivities = "activities"
  case liveActivityUpdates = "activity_updates"
  case targets
  case hostEvents = "host_events"
  case modelTexts = "model_texts"
  case rowTexts = "row_texts"

  var sqlName: String { "tacet.\(rawValue)" }

  /// How long rows are kept with a retention of a day, in days.
  var keptDays: Int { self == .cancellations ? 61 : 1 }

  /// The column of the rows' moment; the others that must be given; and their values.
  private var rows: (time: String, columns: String, values: String) {
    switch self {
    case .ledger:
      ("enqueued_at", "user_id, subject_id, push_type", "gen_random_uuid(), gen_random_uuid(), 'message'")
    case .parked:
      (
        "parked_at", "enqueued_at, subject_id, kind, attempts, reason",
        "now(), gen_random_uuid(), 'message', 1, 'test'"
      )
    case .triggerFailures: ("failed_at", "sqlstate, message", "'XX000', 'test'")
    case .surfaceViews:
      ("last_seen", "surface_kind, surface_id, user_id", "'calendar', gen_random_uuid(), gen_random_uuid()")
    case .readSyncs:
      (
        "available_at", "user_id, conversation_id, message_ids",
        "gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()]"
      )
    case .pushes: ("created_at", "user_id, kind, title, body", "gen_random_uuid(), 'push', 'test', ''")
    case .cancellations: ("cancelled_at", "cancel_key", "gen_random_uuid()::text")
    case .instances: ("seen_at", "id, host, pid, version", "gen_random_uuid()::text, 'host', 1, '1.0'")
    case .unreadMarks:
      ("built_at", "read_until, user_id, conversation_id", "now(), gen_random_uuid(), gen_random_uuid()")
    case .campaignRuns: ("started_at", "due_at, campaign, cause", "now(), 'coach', 'request'")
    case .occasions:
      (
        "fire_at", "available_at, user_id, campaign, slot, fire_date, time_zone",
        "now(), gen_random_uuid(), 'ritual', '0800', current_date, 'UTC'"
      )
    case .slotReports:
      ("received_at", "happened_at, id, user_id, code", "now(), gen_random_uuid(), gen_random_uuid(), 'armed'")
    case .contents:
      ("attempted_at", "fire_date, user_id, campaign, slot", "current_date, gen_random_uuid(), 'ritual', '0800'")
    case .sessions: ("began_at", "last_at, user_id", "now(), gen_random_uuid()")
    case .liveActivities:
      (
        "ended_at", "id, user_id, type, state",
        "gen_random_uuid()::text, gen_random_uuid(), 'WorkoutActivityAttributes', '{}'"
      )
    case .liveActivityUpdates:
      (
        "created_at", "activity_id, version, available_at, event, priority, state, unix_time",
        "'run', floor(random() * 2e9)::int, now(), 'update', 5, '{}', 0"
      )
    case .targets: ("dropped_at", "channel, address, user_id", "'fcm', gen_random_uuid()::text, gen_random_uuid()")
    case .hostEvents: ("ended_at", "user_id, type, state", "gen_random_uuid(), 'push.sent', 'dead'")
    case .modelTexts: ("asked_at", "day, user_id, question", "current_date, gen_random_uuid(), 'a'")
    case .rowTexts: ("asked_at", "subject_id, kind", "gen_random_uuid(), 'achievement'")
    }
  }

  var timeColumn: String { rows.time }

  /// A statement that makes rows.
  /// - Parameters:
  ///   - age: an SQL expression.
  ///   - decision: of rows of the ledger.
  func insertion(of count: Int, age: String, decision: String = "skipped") -> String {
    let isLedger = self == .ledger
    let activity = """
      insert into tacet.activities (id, user_id, type, state)
      values ('run', gen_random_uuid(), 'WorkoutActivityAttributes', '{}') on conflict do nothing;
      """
    return """
      \(self == .liveActivityUpdates ? activity : "")
      insert into \(sqlName) (\(rows.time), \(rows.columns)\(isLedger ? ", decision" : ""))
      select now() - (\(age)), \(rows.values)\(isLedger ? ", '\(decision)'" : "")
      from generate_series(1, \(count))
      """
  }
}

@Suite("Tables that last")
struct RetentionTests {
  @Test("ids of the ledger are UUIDs of version 7 that carry their time")
  func timeOrderedIDs() async throws {
    let database = try await TestDatabase.migrated()
    for _ in 0..<3 {
      try await database.sql(
        "insert into tacet.push_log (user_id, push_type, decision) values (gen_random_uuid(), 'message', 'sent')")
    }
    let rows = try await database.sql(
      """
      select substr(id::text, 15, 1), substr(id::text, 20, 1) in ('8', '9', 'a', 'b'),
        abs(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint - extract(epoch from enqueued_at) * 1000)
          < 60000
      from tacet.push_log
      """)
    #expect(rows.split(separator: "\n") == ["7|t|t", "7|t|t", "7|t|t"])
  }

  @Test("ids grow from one transaction to the next, and no two are alike")
  func growing() async throws {
    let database = try await TestDatabase.migrated()
    let inserts = (0..<20).map { _ in
      "insert into tacet.push_log (user_id, push_type, decision) values (gen_random_uuid(), 'message', 'sent'); select pg_sleep(0.002)"
    }
    try await database.sql(inserts.joined(separator: ";"))
    let order = try await database.sql(
      "select array_agg(id order by id) = array_agg(id order by ctid), count(distinct id) from tacet.push_log")
    #expect(order == "t|20")
  }

  @Test("a vacuum of a table that the host's insert may write never takes the table for itself")
  func truncation() async throws {
    let database = try await TestDatabase.migrated()
    let options = try await database.sql(
      """
      select relname, reloptions @> array['vacuum_truncate=off'] from pg_class
      where oid in ('tacet.inbox'::regclass, 'tacet.deliveries'::regclass, 'tacet.trigger_failures'::regclass)
      order by relname
      """)
    #expect(options.split(separator: "\n") == ["deliveries|t", "inbox|t", "trigger_failures|t"])
  }

  /// Views have no index on their times, so that looks stay cheap.
  private static let timeIndexes: [(PrunedTable, String)] = [
    (.ledger, "push_log_enqueued_idx"), (.parked, "parked_parked_idx"),
    (.triggerFailures, "trigger_failures_failed_idx"), (.readSyncs, "read_syncs_available_idx"),
    (.pushes, "pushes_created_idx"),
  ]

  @Test(
    "pruning reads a large table through the index of its time",
    arguments: ["force_custom_plan", "force_generic_plan"], timeIndexes)
  func plans(_ mode: String, _ timeIndex: (table: PrunedTable, name: String)) async throws {
    let (table, index) = timeIndex
    let database = try await Self.large.value
    // Everything is old, and nothing: what the planner knows of either must not make it read the whole table.
    let statement = try await database.sql("select tacet.prune_statement('\(table.rawValue)')")
    for retention in ["1 microsecond", "100 years"] {
      let plan = try await database.sql(
        """
        set plan_cache_mode = \(mode); prepare p (interval) as \(statement); explain execute p ('\(retention)')
        """)
      #expect(!plan.contains("Seq Scan"), "\(plan)")
      #expect(plan.contains("Index Scan using \(index)"), "\(plan)")
      #expect(plan.contains("Tid Scan"), "\(plan)")
    }
  }

  /// 50,000 rows in each table.
  private static let large = Task {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.push_log (enqueued_at, user_id, subject_id, push_type, decision)
      select now() - n * interval '1 minute', gen_random_uuid(), gen_random_uuid(), 'message', 'sent'
      from generate_series(1, 50000) n;
      insert into tacet.trigger_failures (failed_at, sqlstate, message)
      select now() - n * interval '1 minute', '55P03', 'a lock was not available' from generate_series(1, 50000) n;
      insert into tacet.parked (parked_at, enqueued_at, subject_id, kind, attempts, reason)
      select now() - n * interval '1 minute', now(), gen_random_uuid(), 'message', 8, 'reason'
      from generate_series(1, 50000) n;
      insert into tacet.read_syncs (available_at, user_id, conversation_id, message_ids)
      select now() - n * interval '1 minute', gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()]
      from generate_series(1, 50000) n;
      insert into tacet.pushes (created_at, user_id, kind, title, body)
      select now() - n * interval '1 minute', gen_random_uuid(), 'push', 'title', 'body'
      from generate_series(1, 50000) n
      """)
    try await database.sql("analyze")
    return database
  }
}
