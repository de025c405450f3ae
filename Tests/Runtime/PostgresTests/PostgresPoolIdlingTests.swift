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
      let pool = try await Self.pool(limit: .milliseconds(600))
      pool.start(on: reactor)
      try await pool.query(sleepStatement, [0.9], on: reactor)
      for _ in 0..<10 {
        try await pool.query(one, on: reactor)
        await reactor.sleep(for: .milliseconds(80))
      }
      _ = try await pool.withConnection(on: reactor) { connection in
        await reactor.sleep(for: .milliseconds(900))
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
