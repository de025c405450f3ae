import Reactors
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("Pool: the database's return")
struct PostgresPoolReturnTests {
  private static let patience = Duration.milliseconds(400)

  @Test("its observer is told once, and who lets others go first waits after the return, not before a loss")
  func order() async throws {
    let server = try await TestPostgres.launch()
    try await onReactor { reactor in
      let pool = PostgresPool(
        PostgresConfiguration(conninfo: server.conninfo()), size: 3, acquireLimit: .seconds(20), logger: quiet)
      let observer = Observer()
      pool.observer = observer
      pool.start(on: reactor)
      try await pool.query(one, afterReturn: .seconds(600), on: reactor)
      while pool.openCount < 3 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(observer.losses.isEmpty)

      let before = Reactor.now
      try await server.stop(.immediate)
      while pool.isReady { await reactor.sleep(for: .milliseconds(1)) }
      let (patient, hasty) = (Signal(), Signal())
      var order: [String] = []
      reactor.start {
        _ = try? await pool.query(one, afterReturn: Self.patience, on: reactor)
        order.append("patient")
        patient.signal(on: reactor)
      }
      reactor.start {
        _ = try? await pool.query(one, on: reactor)
        order.append("hasty")
        hasty.signal(on: reactor)
      }
      try await server.start()
      #expect(await hasty.wait(for: .seconds(20), on: reactor))
      #expect(await patient.wait(for: .seconds(20), on: reactor))
      #expect(order == ["hasty", "patient"])
      let lostAt = try #require(observer.losses.first?.lostAt)
      let toldAt = try #require(observer.losses.first?.toldAt)
      #expect(observer.losses.count == 1 && before < lostAt && lostAt < toldAt)
      #expect(Reactor.now &- toldAt >= Self.patience.clampedNanoseconds)
      await pool.close(on: reactor)
    }
  }

  @Test("a session that ends while others stay open is no loss")
  func oneOfThree() async throws {
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo())
      let pool = PostgresPool(configuration, size: 3, acquireLimit: .seconds(20), logger: quiet)
      let observer = Observer()
      pool.observer = observer
      pool.start(on: reactor)
      while pool.openCount < 3 { await reactor.sleep(for: .milliseconds(1)) }
      try await pool.withConnection(on: reactor) { $0.close(on: reactor) }
      while pool.counters.reconnects < 1 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(observer.losses.isEmpty)
      await pool.close(on: reactor)
    }
  }

  private final class Observer: PostgresPoolObserver {
    private(set) var losses: [(lostAt: UInt64, toldAt: UInt64)] = []

    func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor) {
      losses.append((lostAt, Reactor.now))
    }
  }
}
