import Reactors
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("Pool")
struct PostgresPoolTests {
  private let backend = PostgresStatement("backend", "select pg_backend_pid()")

  private func withPool(
    _ conninfo: String, size: Int = 4, acquireLimit: Duration = .seconds(20),
    _ body: @escaping @Sendable (PostgresPool, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      var configuration = PostgresConfiguration(conninfo: conninfo)
      // Far above what a slow machine needs to stop a server.
      configuration.statementLimit = .seconds(60)
      configuration.answerLimit = .seconds(60)
      let pool = PostgresPool(configuration, size: size, acquireLimit: acquireLimit, logger: quiet)
      pool.start(on: reactor)
      let result: Result<Void, any Error>
      do {
        try await body(pool, reactor)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await pool.close(on: reactor)
      try result.get()
    }
  }

  @Test("a thousand statements on four sessions are answered, each with its own answer")
  func thousand() async throws {
    try await withPool(await TestPostgres.shared.conninfo()) { pool, reactor in
      while pool.openCount < 4 { await reactor.sleep(for: .milliseconds(1)) }
      let answers = try await inParallel(1000, on: reactor) { number in
        try await pool.query(echo, [number], on: reactor).one().decode(0, as: Int.self)
      }
      #expect(answers == Array(0..<1000))
      #expect(pool.counters.roundTrips == 1000 && pool.counters.reconnects == 0)
      #expect(pool.isReady)
    }
  }

  @Test("its sessions are idle, in use, or being opened; who waits for one is counted")
  func usage() async throws {
    try await withPool(await TestPostgres.shared.conninfo(), size: 2) { pool, reactor in
      #expect(pool.usage.closed == 2)
      while pool.openCount < 2 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(pool.usage == PostgresPool.Usage(idle: 2, inUse: 0, closed: 0, waiting: 0))
      try await pool.withConnection(on: reactor) { _ in
        #expect(pool.usage == PostgresPool.Usage(idle: 1, inUse: 1, closed: 0, waiting: 0))
        try await pool.withConnection(on: reactor) { _ in
          reactor.start { _ = try? await pool.query(echo, [1], on: reactor) }
          while pool.usage.waiting == 0 { await reactor.sleep(for: .milliseconds(1)) }
          #expect(pool.usage == PostgresPool.Usage(idle: 0, inUse: 2, closed: 0, waiting: 1))
        }
      }
      #expect(pool.usage.waiting == 0)
    }
  }

  @Test("statements are spread over the sessions")
  func spread() async throws {
    try await withPool(await TestPostgres.shared.conninfo()) { pool, reactor in
      while pool.openCount < 4 { await reactor.sleep(for: .milliseconds(1)) }
      let backends = try await inParallel(8, on: reactor) { _ in
        try await pool.query(backend, on: reactor).one().decode(0, as: Int.self)
      }
      #expect(Set(backends).count == 4)
    }
  }

  @Test("after a restart of the server the pending fail as lost, and the pool recovers by itself")
  func restart() async throws {
    let server = try await TestPostgres.launch()
    try await withPool(server.conninfo()) { pool, reactor in
      try await pool.query(one, on: reactor)
      // A place that opens its first session after the restart has not reconnected.
      while pool.openCount < 4 { await reactor.sleep(for: .milliseconds(1)) }
      let pending = Signal()
      reactor.start {
        let error = try? await failure { try await pool.query(sleepStatement, [50.0], on: reactor) }
        #expect(error?.code == .connectionLost && error?.sqlState == .adminShutdown)
        pending.signal(on: reactor)
      }
      await Task.yield()
      try await server.restart()
      #expect(await pending.wait(for: .seconds(30), on: reactor))
      #expect(try await pool.query(echo, [8], on: reactor).one().decode(0) == 8)
      #expect(pool.counters.reconnects > 0)
      #expect(pool.counters.roundTrips == 2)
    }
  }

  @Test("a killed server is a lost connection too")
  func killed() async throws {
    let server = try await TestPostgres.launch()
    try await withPool(server.conninfo(), acquireLimit: .milliseconds(50)) { pool, reactor in
      while !pool.isReady { await reactor.sleep(for: .milliseconds(1)) }
      let pending = Signal()
      reactor.start {
        let error = try? await failure { try await pool.query(sleepStatement, [50.0], on: reactor) }
        #expect(error?.code == .connectionLost)
        pending.signal(on: reactor)
      }
      await Task.yield()
      try await server.kill()
      #expect(await pending.wait(for: .seconds(30), on: reactor))
      while pool.isReady { await reactor.sleep(for: .milliseconds(1)) }
      let error = try await failure { try await pool.query(one, on: reactor) }
      #expect(error.code == .notConnected && error.message.isEmpty == false)
    }
  }

  @Test("a server that stands still costs a session its life, not the caller its patience")
  func frozen() async throws {
    let server = try await TestPostgres.launch()
    try await onReactor { reactor in
      var configuration = PostgresConfiguration(conninfo: server.conninfo())
      configuration.statementLimit = .milliseconds(50)
      configuration.silenceLimit = .milliseconds(50)
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      try await connection.query(one, on: reactor)
      server.freeze()
      let error = try await failure { try await connection.query(one, on: reactor) }
      server.thaw()
      #expect(error.code == .connectionLost && error.message == "the server is silent")
      #expect(!connection.isOpen)
      let next = try await failure { try await connection.query(one, on: reactor) }
      #expect(next.code == .notConnected)
    }
  }

  @Test("without a server a caller waits for the limit and learns why")
  func neverConnected() async throws {
    let port = try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0))).address.port
    try await withPool("host=127.0.0.1 port=\(port) user=x", acquireLimit: .milliseconds(30)) { pool, reactor in
      let error = try await failure { try await pool.query(one, on: reactor) }
      #expect(error.code == .notConnected && error.message.contains("refused"))
      #expect(!pool.isReady)
    }
  }

  @Test("a leased session is nobody else's")
  func lease() async throws {
    try await withPool(await TestPostgres.shared.conninfo(), size: 1) { pool, reactor in
      let answered = Signal()
      let inside = try await pool.withConnection(on: reactor) { connection in
        reactor.start {
          _ = try? await pool.query(one, on: reactor)
          answered.signal(on: reactor)
        }
        let first = try await connection.query(backend, on: reactor).one().decode(0, as: Int.self)
        let second = try await connection.query(backend, on: reactor).one().decode(0, as: Int.self)
        #expect(first == second)
        #expect(connection.statementsAnswered == 2)
        return first
      }
      #expect(await answered.wait(for: .seconds(10), on: reactor))
      #expect(try await pool.query(backend, on: reactor).one().decode(0) == inside)
    }
  }

  @Test("a session left inside a transaction is replaced")
  func abandonedTransaction() async throws {
    try await withPool(await TestPostgres.shared.conninfo(), size: 1) { pool, reactor in
      try await pool.withConnection(on: reactor) { try await $0.simple("begin", on: reactor) }
      let inTransaction = PostgresStatement("inside", "select now() = statement_timestamp()")
      try await pool.query(inTransaction, on: reactor)
      #expect(pool.counters.reconnects == 1)
    }
  }

  @Test("a closing pool finishes what is under way and takes nothing new")
  func close() async throws {
    try await onReactor { reactor in
      let pool = PostgresPool(
        PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo()), size: 2, logger: quiet)
      pool.start(on: reactor)
      try await pool.query(one, on: reactor)
      let finished = Signal()
      reactor.start {
        _ = try? await pool.query(sleepStatement, [0.05], on: reactor)
        finished.signal(on: reactor)
      }
      await Task.yield()
      await pool.close(on: reactor)
      #expect(await finished.wait(for: .zero, on: reactor))
      let error = try await failure { try await pool.query(one, on: reactor) }
      #expect(error.code == .notConnected)
      #expect(reactor.pendingTimers == 0)
    }
  }
}
