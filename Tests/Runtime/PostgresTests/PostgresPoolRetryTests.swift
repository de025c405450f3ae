import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@Suite("Pool: conflicts")
struct PostgresPoolRetryTests {
  @Test("of two statements that lock each other out both succeed, one of them at its second attempt")
  func deadlock() async throws {
    let database = try await makeDatabase()
    let add = PostgresStatement("add", "select public.add($1, $2)", [.int8, .int8])
    try await withPool(database, ["deadlock_timeout": "20ms"]) { pool, reactor in
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
    try await withPool(database, ["default_transaction_isolation": "serializable"]) { pool, reactor in
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
    try await withPool(database, [:]) { pool, reactor in
      let error = try await failure { try await pool.query(fail, [sqlState], on: reactor) }
      #expect(error.code == .server && error.sqlState == SQLState(sqlState))
      #expect(pool.counters.roundTrips == attempts)
    }
  }

  private func psql(_ sql: String, _ database: String) async throws -> String {
    try await TestPostgres.shared.psql(sql, through: database)
  }

  /// Two counters, and a function that adds to both: it goes on to the second when another session has the lock of it,
  /// or after a second.
  private func makeDatabase() async throws -> String {
    let database = try await TestPostgres.shared.makeDatabase()
    let sql = """
      create table counters (id bigint primary key, n int);
      insert into counters values (0, 0), (1, 0);
      create function add(first_id bigint, second_id bigint) returns void language plpgsql as $$
      begin
        update public.counters set n = n + 1 where id = first_id;
        perform pg_advisory_xact_lock_shared(0, first_id::int);
        for i in 1..100 loop
          exit when exists (
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

  /// Two sessions with these settings, both open.
  private func withPool(
    _ conninfo: String, _ settings: [String: String],
    _ body: @escaping @Sendable (PostgresPool, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      var configuration = PostgresConfiguration(conninfo: conninfo)
      configuration.settings = settings
      configuration.statementLimit = .seconds(60)
      configuration.answerLimit = .seconds(60)
      let pool = PostgresPool(configuration, size: 2, acquireLimit: .seconds(20), logger: quiet)
      pool.start(on: reactor)
      while pool.openCount < 2 { await reactor.sleep(for: .milliseconds(1)) }
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(pool, reactor))
      } catch {
        result = .failure(error)
      }
      await pool.close(on: reactor)
      try result.get()
    }
  }
}
