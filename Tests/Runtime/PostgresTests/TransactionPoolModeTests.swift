import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@Suite("Behind PgBouncer in transaction mode")
struct TransactionPoolModeTests {
  private let show = PostgresStatement("show", "select current_setting($1)", [.text])
  private let divide = PostgresStatement("divide", "select 1 / $1", [.int8])

  @Test("a thousand statements on more connections than the pooler has sessions are each answered")
  func thousand() async throws {
    try await withPool { pool, _, reactor in
      await pool.awaitOpen(6, on: reactor)
      let answers = try await inParallel(1000, on: reactor) { number in
        try await pool.query(echo, [number], on: reactor).one().decode(0, as: Int.self)
      }
      #expect(answers == Array(0..<1000))
      #expect(pool.counters.roundTrips == 1000 && pool.counters.reconnects == 0)
    }
  }

  @Test("an error hits its own statement only, in the midst of others")
  func errors() async throws {
    try await withPool { pool, _, reactor in
      let answers = try await inParallel(300, on: reactor) { number in
        let isWrong = number % 3 == 0
        do {
          let row = try await pool.query(divide, [isWrong ? 0 : 1], on: reactor).one()
          return try row.decode(0, as: Int.self) == 1 && !isWrong
        } catch let error as PostgresError {
          return error.sqlState == "22012" && isWrong
        }
      }
      #expect(answers == Array(repeating: true, count: 300))
      #expect(pool.counters.reconnects == 0)
    }
  }

  @Test("each statement has the configured settings, and whoever uses the server session next has none of them")
  func settings() async throws {
    try await withPool(poolSize: 1) {
      $0.commitsAsynchronously = true
      $0.settings["work_mem"] = "8MB"
      $0.searchPath = "pg_catalog, \"odd ' \\ name\", pg_temp"
    } body: { pool, pooler, reactor in
      let expected = [
        "synchronous_commit": "off", "work_mem": "8MB", "TimeZone": "UTC", "statement_timeout": "1min",
        "search_path": "pg_catalog, \"odd ' \\ name\", pg_temp",
      ]
      for (name, value) in expected {
        #expect(try await pool.query(show, [name], on: reactor).one().decode(0) == value)
      }
      let others = try await psql("show work_mem; show search_path; show statement_timeout", through: pooler)
      #expect(others == "4MB\n\"$user\", public\n0\n")
    }
  }

  @Test("the server ends a statement that runs longer than the limit; the connection goes on")
  func statementLimit() async throws {
    try await withPool(configure: { $0.statementLimit = .milliseconds(500) }) { pool, _, reactor in
      let error = try await failure { try await pool.query(sleepStatement, [10.0], on: reactor) }
      #expect(error.code == .server && error.sqlState == .queryCanceled)
      try await pool.query(one, on: reactor)
      #expect(pool.counters.reconnects == 0)
    }
  }

  @Test("a session's settings in the connection request are refused, and the error names the setting to change")
  func refusedOptions() async throws {
    let pooler = try await TestPgBouncer.launch(before: TestPostgres.shared)
    let error = try await failure { try await withConnection(to: pooler.conninfo()) { _, _ in } }
    #expect(error.code == .notConnected && error.message.contains("unsupported startup parameter: options"))
    #expect(error.description.contains("DATABASE_POOL_MODE=transaction"))
  }

  @Test("statements that one session prepared and another runs fail, and the error names the setting to change")
  func strayStatements() async throws {
    let pooler = try await TestPgBouncer.launch(
      before: TestPostgres.shared, settings: ["ignore_startup_parameters = options"])
    try await PostgresTests.withPool(pooler.conninfo()) { pool, reactor in
      await pool.awaitOpen(4, on: reactor)
      let errors = try await inParallel(100, on: reactor) { number in
        do throws(PostgresError) {
          try await pool.query(echo, [number], on: reactor)
          return PostgresError?.none
        } catch {
          return error
        }
      }.compactMap { $0 }
      #expect(!errors.isEmpty)
      for error in errors where error.code == .server {
        #expect(error.sqlState == .invalidStatementName || error.sqlState == .duplicatePreparedStatement)
        #expect(error.description.contains("DATABASE_POOL_MODE=transaction"))
      }
    }
  }

  private func psql(_ sql: String, through pooler: TestPgBouncer) async throws -> String {
    try await TestPostgres.shared.psql(sql, through: pooler.conninfo())
  }

  /// Six connections to a pooler that has two sessions.
  private func withPool(
    poolSize: Int = 2, configure: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in },
    body: @escaping @Sendable (PostgresPool, TestPgBouncer, isolated Reactor) async throws -> Void
  ) async throws {
    let pooler = try await TestPgBouncer.launch(before: TestPostgres.shared, poolSize: poolSize)
    try await PostgresTests.withPool(
      pooler.conninfo(database: "postgres"), size: 6,
      configure: {
        $0.poolMode = .transaction
        configure(&$0)
      }
    ) { try await body($0, pooler, $1) }
  }
}
