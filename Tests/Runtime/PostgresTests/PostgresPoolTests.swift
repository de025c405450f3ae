import Reactors
import TestPostgres
import TestProcesses
import TestReactors
import Testing

@testable import Postgres

@Suite("Pool")
struct PostgresPoolTests {
  private let backend = PostgresStatement("backend", "select pg_backend_pid()")

  @Test("a thousand statements on four sessions are answered, each with its own answer")
  func thousand() async throws {
    try await withPool(await TestPostgres.shared.conninfo()) { pool, reactor in
      await pool.awaitOpen(4, on: reactor)
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
      await pool.awaitOpen(2, on: reactor)
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
      await pool.awaitOpen(4, on: reactor)
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
      await pool.awaitOpen(4, on: reactor)
      let pending = Signal()
      reactor.start {
        let error = try? await failure { try await pool.query(sleepStatement, [50.0], on: reactor) }
        #expect(error?.code == .connectionLost && error?.sqlState == "57P01")
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
    try await withConnection(
      to: server.conninfo(), { ($0.statementLimit, $0.silenceLimit) = (.milliseconds(500), .milliseconds(500)) }
    ) { connection, reactor in
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
    try await withPool("host=127.0.0.1 port=\(reservedPort()) user=x", acquireLimit: .milliseconds(30)) {
      pool, reactor in
      while pool.failure == nil { await reactor.sleep(for: .milliseconds(1)) }
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
      #expect(await answered.wait(for: patience, on: reactor))
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

@Suite("Pool: conflicts")
struct PostgresPoolRetryTests {
  @Test("of two statements that lock each other out both succeed, one of them at its second attempt")
  func deadlock() async throws {
    let database = try await makeDatabase()
    let add = PostgresStatement("add", "select public.add($1, $2)", [.int8, .int8])
    try await withPool(database, size: 2, configure: { $0.settings = ["deadlock_timeout": "20ms"] }) { pool, reactor in
      await pool.awaitOpen(2, on: reactor)
      _ = try await inParallel(2, on: reactor) { number in
        try await pool.query(add, [number, 1 - number], on: reactor)
      }
      #expect(pool.counters.roundTrips > 2 && pool.counters.reconnects == 0)
    }
    #expect(try await psql("select string_agg(n::text, ' ') from counters", database) == "2 2\n")
  }

  @Test("serialization failures are run again until they succeed")
  func serializable() async throws {
    let database = try await makeDatabase()
    let slowly = PostgresStatement(
      "slowly", "update public.counters set n = n + 1 where id = 0 returning pg_sleep(0.005)::text")
    let isolation = ["default_transaction_isolation": "serializable"]
    try await withPool(database, size: 2, configure: { $0.settings = isolation }) { pool, reactor in
      await pool.awaitOpen(2, on: reactor)
      for _ in 0..<10 { _ = try await inParallel(2, on: reactor) { _ in try await pool.query(slowly, on: reactor) } }
      #expect(pool.counters.roundTrips > 20)
    }
    #expect(try await psql("select n from counters where id = 0", database) == "20\n")
  }

  @Test(
    "a conflict that never ends is given up, and another failure at once",
    arguments: [("40001", 5), ("40P01", 5), ("40003", 1), ("40000", 1), ("23505", 1), ("55P03", 1)])
  func bounded(_ sqlState: String, _ attempts: Int) async throws {
    let database = try await makeDatabase()
    let fail = PostgresStatement("fail", "select public.fail($1)", [.text])
    try await withPool(database, size: 2) { pool, reactor in
      let error = try await failure { try await pool.query(fail, [sqlState], on: reactor) }
      #expect(error.code == .server && error.sqlState == SQLState(sqlState))
      #expect(pool.counters.roundTrips == attempts)
    }
  }

  private func psql(_ sql: String, _ database: String) async throws -> String {
    try await TestPostgres.shared.psql(sql, through: database)
  }

  /// Two counters, and a function that adds to both: it goes on to the second when another session has the lock of it, or has
  /// added to it before.
  private func makeDatabase() async throws -> String {
    let database = try await TestPostgres.shared.makeDatabase()
    let sql = """
      create table counters (id bigint primary key, n int);
      insert into counters values (0, 0), (1, 0);
      create function add(first_id bigint, second_id bigint) returns void language plpgsql as $$
      begin
        update public.counters set n = n + 1 where id = first_id;
        perform pg_advisory_xact_lock_shared(0, first_id::int);
        for i in 1..3000 loop
          exit when (select n > 0 from public.counters where id = second_id) or exists (
            select from pg_locks l join pg_database d on d.oid = l.database
            where d.datname = current_database() and l.locktype = 'advisory' and l.objid = second_id
          );
          perform pg_sleep(0.01);
        end loop;
        update public.counters set n = n + 1 where id = second_id;
      end $$;
      create function fail(state text) returns void language plpgsql as $$
      begin raise exception using errcode = state; end $$
      """
    _ = try await psql(sql, database)
    return database
  }
}

@Suite("Backoff")
struct BackoffTests {
  @Test("the ceiling doubles from 50 ms up to 5 s and stays there until a success")
  func ceilings() {
    var backoff = Backoff()
    var generator = SystemRandomNumberGenerator()
    let ceilings: [Duration] = (0..<9).map { _ in
      defer { _ = backoff.next(using: &generator) }
      return backoff.ceiling
    }
    #expect(ceilings == [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
    for _ in 0..<1000 { _ = backoff.next(using: &generator) }
    #expect(backoff.ceiling == .seconds(5))
    backoff.reset()
    #expect(backoff.ceiling == .milliseconds(50))
  }

  @Test("a wait lies anywhere between nothing and the ceiling")
  func jitter() {
    var lowest = Fixed(value: 0)
    var highest = Fixed(value: .max)
    var backoff = Backoff()
    #expect(backoff.next(using: &lowest) == .zero)
    #expect(backoff.next(using: &highest) == .milliseconds(100) - .nanoseconds(1))
  }

}

private struct Fixed: RandomNumberGenerator {
  let value: UInt64

  mutating func next() -> UInt64 { value }
}
