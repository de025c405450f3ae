import Reactors
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("Pool: sessions without work")
struct PostgresPoolIdlingTests {
  @Test("are closed after the limit, and the next statement opens them again; this is no loss of the database")
  func rests() async throws {
    try await onReactor { reactor in
      let pool = try await Self.pool(limit: .milliseconds(50))
      let observer = Observer()
      pool.observer = observer
      for round in 1...3 {
        try await pool.query(one, on: reactor)
        #expect(pool.isReady && !pool.isResting)
        while !pool.isResting { await reactor.sleep(for: .milliseconds(1)) }
        #expect(pool.openCount == 0 && pool.usage == PostgresPool.Usage())
        #expect(pool.counters == PostgresPool.Counters(roundTrips: round, reconnects: 0))
      }
      #expect(observer.losses == 0)
      await pool.close(on: reactor)
    }
  }

  @Test("stay while one of them works, or is used again within the limit")
  func used() async throws {
    try await onReactor { reactor in
      // A statement and a lease are longer than the limit, and the pauses between uses so much shorter that no busy machine
      // makes up for it.
      let pool = try await Self.pool(limit: .milliseconds(1500))
      pool.start(on: reactor)
      try await pool.query(sleepStatement, [2.0], on: reactor)
      for _ in 0..<10 {
        try await pool.query(one, on: reactor)
        await reactor.sleep(for: .milliseconds(80))
      }
      _ = try await pool.withConnection(on: reactor) { connection in
        await reactor.sleep(for: .milliseconds(2000))
        return try await connection.query(one, on: reactor)
      }
      #expect(pool.idling?.hasRested == false)
      while !pool.isResting { await reactor.sleep(for: .milliseconds(1)) }
      await pool.close(on: reactor)
    }
  }

  @Test("tell of each statement, also of one that opens them")
  func told() async throws {
    try await onReactor { reactor in
      let pool = try await Self.pool(limit: .seconds(60))
      var uses = 0
      pool.onUse = { uses += 1 }
      try await pool.query(one, on: reactor)
      _ = try await pool.withConnection(on: reactor) { try await $0.query(one, on: reactor) }
      #expect(uses == 2)
      await pool.close(on: reactor)
    }
  }

  @Test("are not tried for again while nobody needs them, and their failure is said to who does")
  func away() async throws {
    try await onReactor { reactor in
      let pool = PostgresPool(
        PostgresConfiguration(conninfo: "host=/nowhere"), acquireLimit: .milliseconds(100),
        idleLimit: .milliseconds(50), logger: quiet)
      for _ in 0..<2 {
        let error = try await failure { try await pool.query(one, on: reactor) }
        #expect(error.code == .notConnected)
        #expect(!pool.isResting)
        while !pool.isResting { await reactor.sleep(for: .milliseconds(1)) }
        #expect(pool.members.isEmpty && pool.failure == nil)
      }
      await pool.close(on: reactor)
    }
  }

  @Test("rest also while attempts to open them fail, which begin a tenth of a second after the first")
  func attempts() async throws {
    try await onReactor { reactor in
      for milliseconds in 90...110 {
        let pool = PostgresPool(
          PostgresConfiguration(conninfo: "host=/nowhere"), acquireLimit: .milliseconds(milliseconds),
          idleLimit: .milliseconds(1), logger: quiet)
        _ = try await failure { try await pool.query(one, on: reactor) }
        // Longer than the idle limit, and than the first attempt of every session.
        await reactor.sleep(for: .milliseconds(200))
        for _ in 0..<30_000 where !pool.isResting { await reactor.sleep(for: .milliseconds(1)) }
        #expect(pool.isResting && pool.failure == nil, "\(milliseconds) ms")
        await pool.close(on: reactor)
      }
    }
  }

  private static func pool(limit: Duration) async throws -> PostgresPool {
    PostgresPool(
      PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo()), size: 2, acquireLimit: .seconds(20),
      idleLimit: limit, logger: quiet)
  }

  private final class Observer: PostgresPoolObserver {
    private(set) var losses = 0

    func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor) { losses += 1 }
  }
}

@Suite("Pool: the database's return")
struct PostgresPoolReturnTests {
  /// Far above what a session that is had at once needs on a busy machine.
  private static let afterReturn = Duration.milliseconds(1500)

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
      await pool.awaitOpen(3, on: reactor)
      #expect(observer.losses.isEmpty)

      let before = Reactor.now
      try await server.stop(.immediate)
      while pool.isReady { await reactor.sleep(for: .milliseconds(1)) }
      let (patient, hasty) = (Signal(), Signal())
      var order: [String] = []
      reactor.start {
        _ = try? await pool.query(one, afterReturn: Self.afterReturn, on: reactor)
        order.append("patient")
        patient.signal(on: reactor)
      }
      reactor.start {
        _ = try? await pool.query(one, on: reactor)
        order.append("hasty")
        hasty.signal(on: reactor)
      }
      try await server.start()
      #expect(await hasty.wait(for: patience, on: reactor))
      #expect(await patient.wait(for: patience, on: reactor))
      #expect(order == ["hasty", "patient"])
      let lostAt = try #require(observer.losses.first?.lostAt)
      let toldAt = try #require(observer.losses.first?.toldAt)
      #expect(observer.losses.count == 1 && before < lostAt && lostAt < toldAt)
      #expect(Reactor.now &- toldAt >= Self.afterReturn.clampedNanoseconds)
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
      await pool.awaitOpen(3, on: reactor)
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
