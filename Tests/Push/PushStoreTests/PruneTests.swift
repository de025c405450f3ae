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
      ![.surfaceViews, .unreadMarks, .contents, .bursts, .cancellations].contains($0)
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
