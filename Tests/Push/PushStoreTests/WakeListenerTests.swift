import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestReactors
import TestRepository
import Testing

@testable import PushStore

@Suite("Wake listener")
struct WakeListenerTests {
  @Test("it wakes when it begins to listen, and for every message that is committed")
  func wakes() async throws {
    let chat = try await Chat()
    try await withListener(chat.database.configuration) { _, wakes, status, reactor in
      try await wakes.next(on: reactor)
      #expect(status.state == .listening)
      for _ in 0..<3 {
        let before = wakes.count
        _ = try await chat.send()
        while wakes.count == before { try await wakes.next(on: reactor) }
      }
    }
  }

  @Test("work that is due later is heard of with its wait, and work that is due now wakes")
  func later() async throws {
    let chat = try await Chat()
    try await withListener(chat.database.configuration) { _, wakes, _, reactor in
      try await wakes.next(on: reactor)
      try await chat.database.sql("select tacet.wake_at(clock_timestamp() + interval '10 s')")
      while wakes.waits.isEmpty { try await wakes.next(on: reactor) }
      #expect(wakes.waits[0] > .seconds(9) && wakes.waits[0] <= .seconds(10))
      let before = wakes.count
      try await chat.database.sql("select tacet.wake_at(clock_timestamp())")
      while wakes.count == before { try await wakes.next(on: reactor) }
      #expect(wakes.waits.count == 1)
    }
  }

  @Test(
    "a wait of microseconds up to an hour is one; everything else only wakes",
    arguments: [
      ("in 0", 0), ("in 1500000", 1_500_000), ("in 3600000000", 3_600_000_000), ("in 3600000001", nil), ("in -1", nil),
      ("in 9223372036854775808", nil), ("in", nil), ("in ", nil), ("in 1 ", nil), ("", nil), ("release", nil),
    ] as [(String, Int?)])
  func waits(_ payload: String, _ microseconds: Int?) {
    #expect(WakeListener.wait(in: payload) == microseconds.map { .microseconds($0) })
  }

  @Test("awake, it holds the lock and hears nothing; asleep again, it has looked once more and hears everything")
  func awake() async throws {
    let chat = try await Chat()
    try await withListener(chat.database.configuration) { listener, wakes, _, reactor in
      let watcher = try await Session.open(chat.database, on: reactor)
      defer { watcher.connection.close(on: reactor) }
      try await wakes.next(on: reactor)
      listener.setAwake(true, on: reactor)
      try await watcher.awaitTrue(lockIsHeld, on: reactor)
      #expect(try await notifications(of: chat.insertion(of: HostID.new()), in: chat.database) == 0)
      let before = wakes.count
      listener.setAwake(false, on: reactor)
      try await watcher.awaitTrue("select not (\(lockIsHeld))", on: reactor)
      while wakes.count == before { try await wakes.next(on: reactor) }
      let asleep = wakes.count
      _ = try await chat.send()
      while wakes.count == asleep { try await wakes.next(on: reactor) }
    }
  }

  @Test("wanted last wins, and the lock is held once however often it is wanted")
  func wantedLast() async throws {
    let chat = try await Chat()
    try await withListener(chat.database.configuration) { listener, wakes, _, reactor in
      let watcher = try await Session.open(chat.database, on: reactor)
      defer { watcher.connection.close(on: reactor) }
      try await wakes.next(on: reactor)
      for isAwake in [true, false, true, true] { listener.setAwake(isAwake, on: reactor) }
      try await watcher.awaitTrue(lockIsHeld, on: reactor)
      listener.setAwake(true, on: reactor)
      listener.setAwake(false, on: reactor)
      try await watcher.awaitTrue("select not (\(lockIsHeld))", on: reactor)
    }
  }

  @Test("a restart of the server is survived, and the lock is taken again")
  func restart() async throws {
    let server = try await TestPostgres.launch()
    for file in [Repository.hostTables, Repository.install] {
      try await server.psql("\\i '\(file.path)'")
    }
    let configuration = PostgresConfiguration(conninfo: server.conninfo())
    try await withListener(configuration) { listener, wakes, status, reactor in
      try await wakes.next(on: reactor)
      listener.setAwake(true, on: reactor)
      try await server.awaitTrue(lockIsHeld)
      let before = wakes.count
      try await server.restart()
      while wakes.count == before { try await wakes.next(on: reactor) }
      #expect(status.state == .listening)
      try await server.awaitTrue(lockIsHeld)
    }
  }

  @Test("a host transaction that keeps the lock shared holds the listener up for a moment only")
  func bounded() async throws {
    let chat = try await Chat()
    try await withListener(chat.database.configuration) { listener, wakes, _, reactor in
      let host = try await Session.open(chat.database, on: reactor)
      let other = try await Session.open(chat.database, on: reactor)
      defer {
        host.connection.close(on: reactor)
        other.connection.close(on: reactor)
      }
      try await wakes.next(on: reactor)
      // On a busy machine the first note that somebody listens may come with a later proof.
      try await host.awaitTrue("select listening_until > clock_timestamp() from tacet.settings", on: reactor)
      try await host.run("begin; \(chat.insertion(of: HostID.new()))", on: reactor)
      listener.setAwake(true, on: reactor)
      try await host.awaitTrue(lockIsAwaited, on: reactor)
      // While it is awaited nobody notifies, and it is no longer wanted: only a look of its own finds this message.
      let before = wakes.count
      listener.setAwake(false, on: reactor)
      try await other.run(chat.insertion(of: HostID.new()), on: reactor)
      while wakes.count == before { try await wakes.next(on: reactor) }
      let asleep = wakes.count
      try await other.run(chat.insertion(of: HostID.new()), on: reactor)
      while wakes.count == asleep { try await wakes.next(on: reactor) }
      listener.setAwake(true, on: reactor)
      try await host.run("commit", on: reactor)
      try await host.awaitTrue(lockIsHeld, on: reactor)
    }
  }
}

private func advisoryLock(_ condition: String) -> String {
  """
  select exists (
    select from pg_locks where locktype = 'advisory' and classid = 1952539493 and objid = 1
      and database = (select oid from pg_database where datname = current_database())
      and mode = 'ExclusiveLock' and \(condition)
  )
  """
}

private let lockIsHeld = advisoryLock("granted")
private let lockIsAwaited = advisoryLock("not granted")

extension TestPostgres {
  /// Returns once a query says true.
  fileprivate func awaitTrue(_ query: String) async throws {
    let deadline = ContinuousClock.now + patience
    while try await psql(query) != "t\n" { try #require(ContinuousClock.now < deadline) }
  }
}
