import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@Suite("A server that begins to refuse writes")
struct ReadOnlyServerTests {
  private let port = PostgresStatement("port", "select current_setting('port')::int")
  private let write = PostgresStatement("write", "create table if not exists public.written ()")

  @Test(
    "is left for another one that takes them, as soon as it has refused one, whatever the sessions ask for",
    arguments: ["read-write", "any"])
  func left(_ attributes: String) async throws {
    let first = try await TestPostgres.launch()
    let second = try await TestPostgres.shared
    let database = try await second.makeDatabase()
    let name = String(try #require(database.split(separator: "dbname=").last))
    try await first.psql("create database \(name)")
    try await onReactor { reactor in
      let conninfo = first.conninfo(database: name, or: second) + " target_session_attrs=\(attributes)"
      let configuration = PostgresConfiguration(conninfo: conninfo)
      let pool = PostgresPool(configuration, size: 1, acquireLimit: .seconds(20), logger: quiet)
      pool.start(on: reactor)
      #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(first.port))
      try await pool.query(write, on: reactor)
      try await first.psql("alter system set default_transaction_read_only = on")
      try await first.psql("select pg_reload_conf()")
      // Until the session has heard of it, it writes.
      let error = try await failure {
        while try await pool.query(port, on: reactor).one().decode(0) == Int(first.port) {
          try await pool.query(write, on: reactor)
        }
      }
      #expect(error.code == .server && error.sqlState == .readOnlyTransaction)
      #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(second.port))
      try await pool.query(write, on: reactor)
      #expect(pool.counters.reconnects == 1)
      await pool.close(on: reactor)
    }
  }
}
