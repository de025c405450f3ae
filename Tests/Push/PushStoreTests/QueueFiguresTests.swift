import Foundation
import Postgres
import Testing

@testable import PushStore

@Suite("What waits in the database")
struct QueueFiguresTests {
  private func figures(of database: TestDatabase) async throws -> QueueFigures {
    try await withStore(database) { store, reactor in
      try await store.queueFigures(within: patience, on: reactor)
    }
  }

  private func add(_ count: Int, _ state: String, lane: String? = nil, to database: TestDatabase) async throws {
    try await database.sql(
      """
      insert into tacet.deliveries (subject_id, user_id, kind, due_at, enqueued_at, state, lane)
      select gen_random_uuid(), gen_random_uuid(), 'message', now() + interval '1 day', now(), '\(state)',
        \(lane.map { "'\($0)'" } ?? "null")
      from generate_series(1, \(count))
      """)
  }

  @Test("the oldest transaction that keeps dead rows is told, and who has it")
  func snapshot() async throws {
    let database = try await TestDatabase.migrated()
    try await withTwoSessions(database) { host, witness, reactor in
      try await host.run(
        "set application_name = 'reports'; begin isolation level repeatable read; select count(*) from public.messages",
        on: reactor)
      let figures = try await withStore(database) { try await $0.queueFigures(within: patience, on: $1) }
      #expect(try #require(figures.snapshotAge) < patience)
      // Sessions of the store that has ended may still be at their first statement. A transaction sees them until its end.
      try await witness.awaitTrue(
        """
        select count(*) = 2 from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend'
        """, on: reactor)
      // Of the sessions but the one that asks.
      let names = try await host.connection.query(PushStatements.examineSnapshots, on: reactor)
        .map { try $0.decode("name", as: String.self) }
      #expect(names == [])
      let other = try await Session.open(database, on: reactor)
      defer { other.connection.close(on: reactor) }
      let row = try await other.connection.query(PushStatements.examineSnapshots, on: reactor).one()
      #expect(try row.decode("name", as: String.self) == "reports")
      #expect(try row.decode("pid", as: Int64.self) == Int64(host.processID))
    }
  }

  @Test("nothing waits in a database that nobody uses, and nothing is the oldest")
  func empty() async throws {
    #expect(try await figures(of: try await TestDatabase.migrated()) == QueueFigures())
  }

  @Test("events are counted by their state, and the oldest of either is known by its age")
  func inbox() async throws {
    let chat = try await Chat()
    for _ in 0..<3 { try await chat.send() }
    #expect(try await claim(chat.database, eventsMax: 1).count == 1)
    try await chat.database.sql("update tacet.inbox set enqueued_at = now() - interval '90 s' where is_claimed")
    let figures = try await figures(of: chat.database)
    #expect(figures.freshEvents == 2)
    #expect(figures.claimedEvents == 1)
    let age = try #require(figures.oldestEventAge)
    #expect(age >= .seconds(90) && age < .seconds(90) + patience)
  }

  @Test("deliveries are counted by their state, those that wait by their lane")
  func deliveries() async throws {
    let database = try await TestDatabase.migrated()
    try await add(3, "held", to: database)
    try await add(2, "retryable", to: database)
    try await add(4, "waiting", lane: "a/production", to: database)
    try await add(1, "waiting", lane: "a/sandbox", to: database)
    var expected = QueueFigures()
    (expected.held, expected.retryable) = (3, 2)
    expected.waiting = ["a/production": 4, "a/sandbox": 1]
    #expect(try await figures(of: database) == expected)
  }

  @Test("lanes beyond the bound are together, and those with the most are not among them")
  func lanes() async throws {
    let database = try await TestDatabase.migrated()
    try await add(2, "waiting", lane: "most", to: database)
    for number in 0..<QueueFigures.lanesMax { try await add(1, "waiting", lane: "l\(number)", to: database) }
    let waiting = try await figures(of: database).waiting
    #expect(waiting.count == QueueFigures.lanesMax + 1)
    #expect(waiting["most"] == 2)
    #expect(waiting["other"] == 1)
    #expect(waiting.values.reduce(0, +) == QueueFigures.lanesMax + 2)
  }

  @Test("parked work and swallowed errors are counted")
  func setAside() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.parked (enqueued_at, attempts, subject_id, kind, reason)
      select now(), 6, gen_random_uuid(), 'message', 'claimed too often without a record' from generate_series(1, 2);
      select tacet.count_trigger_failure('57014', 'canceled')
      """)
    let figures = try await figures(of: database)
    #expect(figures.parked == 2)
    #expect(figures.triggerFailures == 1)
  }

  @Test(
    "counts stop at the bound, and every table is read through an index",
    arguments: ["force_custom_plan", "force_generic_plan"])
  func bounded(_ mode: String) async throws {
    let database = try await TestDatabase.migrated()
    try await add(30, "held", to: database)
    let plan = try await database.explain(PushStatements.queueFigures, "20, 4", mode)
    #expect(!plan.contains("Seq Scan"), "\(plan)")
    let sql = PushStatements.queueFigures.sql.replacing("$1", with: "20").replacing("$2", with: "4")
    #expect(try await database.sql(sql).contains("deliveries|held|20"))
  }
}
