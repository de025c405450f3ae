import Postgres
import Reactors
import TestPostgres
import Testing

@Suite("Scripts and transactions")
struct PostgresConnectionScriptTests {
  private let insert = PostgresStatement("insert", "insert into pg_temp.t values ($1)", [.int4])
  private let count = PostgresStatement("count", "select count(*) from pg_temp.t")

  private func withTable(
    _ body: @escaping @Sendable (PostgresConnection, isolated Reactor) async throws -> Void
  ) async throws {
    try await withConnection { connection, reactor in
      try await connection.simple(
        "create table pg_temp.t (a int primary key); insert into pg_temp.t values (1)", on: reactor)
      try await body(connection, reactor)
    }
  }

  @Test("a script of several statements runs between pipelined ones")
  func script() async throws {
    try await withTable { connection, reactor in
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 1)
      try await connection.simple("insert into pg_temp.t values (2); ; select * from pg_temp.t", on: reactor)
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 2)
    }
  }

  @Test("a script that fails leaves nothing behind, and the connection goes on")
  func failingScript() async throws {
    try await withTable { connection, reactor in
      let error = try await failure {
        try await connection.simple("insert into pg_temp.t values (3); insert into pg_temp.t values (1)", on: reactor)
      }
      #expect(error.sqlState == .uniqueViolation)
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 1)
    }
  }

  @Test("a script waits for what is pending, and refuses what comes meanwhile")
  func scriptAlone() async throws {
    try await withTable { connection, reactor in
      let done = Signal()
      reactor.start {
        _ = try? await connection.query(sleepStatement, [0.05], on: reactor)
        done.signal(on: reactor)
      }
      await Task.yield()
      #expect(connection.pendingCount == 1)
      reactor.start {
        await reactor.sleep(for: .milliseconds(100))
        let error = try? await failure { try await connection.query(one, on: reactor) }
        #expect(error?.code == .tooManyPending)
      }
      try await connection.simple("select pg_sleep(0.3)", on: reactor)
      #expect(await done.wait(for: .zero, on: reactor))
    }
  }

  @Test("a COPY in a script ends the connection instead of hanging it")
  func copy() async throws {
    try await withTable { connection, reactor in
      let error = try await failure { try await connection.simple("copy pg_temp.t from stdin", on: reactor) }
      #expect(error.code == .connectionLost)
      #expect(!connection.isOpen)
    }
  }

  @Test("a transaction commits what its body did")
  func commit() async throws {
    try await withTable { connection, reactor in
      let value = try await connection.withTransaction(on: reactor) {
        try await connection.query(insert, [2], on: reactor)
        return 5
      }
      #expect(value == 5)
      #expect(try await connection.query(count, on: reactor).one().decode(0) == 2)
    }
  }

  @Test("a transaction whose body throws is rolled back, with the body's error")
  func rollback() async throws {
    try await withTable { connection, reactor in
      await #expect(throws: UnexpectedSuccess.self) {
        try await connection.withTransaction(on: reactor) {
          try await connection.query(insert, [2], on: reactor)
          throw UnexpectedSuccess()
        }
      }
      let left: Int = try await connection.query(count, on: reactor).one().decode(0)
      #expect(left == 1)
    }
  }

  @Test("a transaction whose body overlooks an error is an error, not a silent rollback")
  func overlookedError() async throws {
    try await withTable { connection, reactor in
      let error = try await failure {
        try await connection.withTransaction(on: reactor) {
          _ = try? await connection.query(insert, [1], on: reactor)
        }
      }
      #expect(error.sqlState == .inFailedTransaction)
      try await connection.query(one, on: reactor)
    }
  }
}
