import Foundation
import Postgres
import Testing

@testable import PushStore

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
