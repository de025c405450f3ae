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

/// Starts a listener beside a pool, and closes both at the end.
/// - Parameters:
///   - pooled: how the pool connects, if not as the listener does.
///   - interval: between two proofs that it hears. limit: how long one may take.
func withListener(
  _ configuration: PostgresConfiguration, pooled: PostgresConfiguration? = nil,
  interval: Duration = WakeListener.probeInterval, limit: Duration = patience,
  _ body: @escaping @Sendable (WakeListener, Wakes, ListenStatus, isolated Reactor) async throws -> Void
) async throws {
  try await onReactor { reactor in
    let (wakes, status) = (Wakes(), ListenStatus())
    let pool = PostgresPool(pooled ?? configuration, size: 1, acquireLimit: patience, logger: quiet)
    pool.start(on: reactor)
    let listener = WakeListener(
      configuration, pool: pool, probeInterval: interval, probeLimit: limit, status: status, logger: quiet,
      handler: wakes)
    listener.start(on: reactor)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(listener, wakes, status, reactor))
    } catch {
      result = .failure(error)
    }
    await listener.close(on: reactor)
    await pool.close(on: reactor)
    try result.get()
  }
}

/// Counts wake-ups.
final class Wakes: WakeHandler {
  private(set) var count = 0
  private(set) var releases = 0
  private(set) var waits: [Duration] = []
  private(set) var isHearing = false
  private(set) var notifyCost: Duration?
  private let woken = Signal()

  func databaseWoke(on reactor: isolated Reactor) {
    count += 1
    woken.signal(on: reactor)
  }

  func workIsDue(after wait: Duration, on reactor: isolated Reactor) {
    waits.append(wait)
    woken.signal(on: reactor)
  }

  func shardsGivenUp(on reactor: isolated Reactor) {}

  func releasesQueued(on reactor: isolated Reactor) {
    releases += 1
    woken.signal(on: reactor)
  }

  func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    self.isHearing = isHearing
  }

  func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    notifyCost = cost
  }

  func next(on reactor: isolated Reactor) async throws {
    try #require(await woken.wait(for: patience, on: reactor))
  }
}

extension ListenStatus {
  /// Returns once it is as expected; there is no signal but the value, which other reactors read.
  func awaitState(on reactor: isolated Reactor, _ isExpected: (State) -> Bool) async throws {
    let deadline = ContinuousClock.now + patience
    while !isExpected(state) {
      try #require(ContinuousClock.now < deadline, "still \(state)")
      await reactor.sleep(for: .milliseconds(2))
    }
  }
}

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
      try await chat.database.sql("select tacet.wake_at(clock_timestamp() + interval '10 min')")
      while wakes.waits.isEmpty { try await wakes.next(on: reactor) }
      #expect((.seconds(600) - patience...(.seconds(600))).contains(wakes.waits[0]))
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

@Suite("Wake listener: silent deaths")
struct SilentDeathTests {
  private static let quick = Duration.milliseconds(50)

  @Test("the default intervals notice any of them within 15 seconds")
  func promise() {
    // The last second is for an answer, when the server is so silent that not even a probe could be sent.
    #expect(WakeListener.probeInterval + WakeListener.probeLimit + .seconds(1) < .seconds(15))
  }

  @Test("a connection that lets nothing through any more is given up, and listening goes on over a new one")
  func halfOpen() async throws {
    let chat = try await Chat()
    let server = chat.database.server
    let proxy = try StallingProxy(to: server.port)
    let listening = PostgresConfiguration(conninfo: conninfo(server, chat.database.name, port: proxy.port))
    try await withListener(listening, pooled: chat.database.configuration, interval: Self.quick, limit: .seconds(1)) {
      _, wakes, status, reactor in
      try await status.awaitState(on: reactor) { $0 == .listening }
      let before = wakes.count
      proxy.stall()
      try await status.awaitState(on: reactor) { $0 != .listening }
      _ = try await chat.send()
      try await status.awaitState(on: reactor) { $0 == .listening }
      while wakes.count == before { try await wakes.next(on: reactor) }
    }
  }

  @Test("a pooler in transaction mode, which answers LISTEN and swallows it, is never taken for listening")
  func pooler() async throws {
    let database = try await TestDatabase.migrated()
    let pooler = try await TestPgBouncer.launch(
      before: database.server, settings: ["ignore_startup_parameters = options"])
    let listening = PostgresConfiguration(conninfo: pooler.conninfo(database: database.name))
    try await withListener(listening, pooled: database.configuration, interval: Self.quick, limit: .milliseconds(500)) {
      _, wakes, status, reactor in
      // Where no probe could be sent in time, the next session of the pooler is the same one, which knows the statement.
      try await status.awaitState(on: reactor) { state in
        #expect(state != .listening)
        return status.detail?.contains("pooler in transaction mode") == true
      }
      #expect(wakes.count == 0)
    }
    #expect(try await database.sql("select listening_until is null from tacet.settings") == "t")
  }

  @Test("a server process that stands still is given up, though others answer")
  func frozenBackend() async throws {
    // A server of its own: the process may stand still with a lock that all others need.
    let server = try await makeServer()
    try await withListener(
      PostgresConfiguration(conninfo: server.conninfo()), interval: Self.quick, limit: .milliseconds(500)
    ) { _, _, status, reactor in
      try await status.awaitState(on: reactor) { $0 == .listening }
      let text = try await server.psql("select pid from pg_stat_activity where application_name = 'tacet listen'")
      let backend = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      kill(backend, SIGSTOP)
      defer { kill(backend, SIGCONT) }
      try await status.awaitState(on: reactor) { $0 != .listening }
      kill(backend, SIGCONT)
      try await status.awaitState(on: reactor) { $0 == .listening }
    }
  }

  @Test("a whole server that stands still is noticed, and heard again when it goes on")
  func frozenServer() async throws {
    let server = try await makeServer()
    try await withListener(
      PostgresConfiguration(conninfo: server.conninfo()), interval: Self.quick, limit: .milliseconds(500)
    ) { _, _, status, reactor in
      try await status.awaitState(on: reactor) { $0 == .listening }
      server.freeze()
      defer { server.thaw() }
      try await status.awaitState(on: reactor) { $0 != .listening }
      server.thaw()
      try await status.awaitState(on: reactor) { $0 == .listening }
    }
  }

  private func makeServer() async throws -> TestPostgres {
    let server = try await TestPostgres.launch()
    for file in [Repository.hostTables, Repository.install] {
      try await server.psql("\\i '\(file.path)'")
    }
    return server
  }

  @Test("whoever hears says so in the database, and goes on saying so")
  func noted() async throws {
    let database = try await TestDatabase.migrated()
    try await withListener(database.configuration, interval: .milliseconds(5)) { _, wakes, _, reactor in
      try await wakes.next(on: reactor)
      // On a busy machine the first note may come with a later proof.
      try await awaitTrue(isNoted, in: database)
      try await database.sql("update tacet.settings set listening_until = null")
      try await awaitTrue(isNoted, in: database)
    }
  }

  @Test(
    "the note is written when it moves by some seconds, and the row left alone otherwise",
    arguments: [
      ("null", 1), ("clock_timestamp() - interval '1 day'", 1), ("clock_timestamp() + interval '24 seconds'", 1),
      ("clock_timestamp() + interval '29 seconds'", 0),
    ])
  func noteMoves(_ until: String, _ rows: Int) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql("update tacet.settings set listening_until = \(until)")
    try await withSessions(database, 1) { sessions, reactor in
      let answer = try await sessions[0].connection.query(.renewListening, on: reactor)
      #expect(answer.affectedCount == rows)
    }
    #expect(try await database.sql(isNoted) == "t")
  }

  private func awaitTrue(_ query: String, in database: TestDatabase) async throws {
    let deadline = ContinuousClock.now + patience
    while try await database.sql(query) != "t" { try #require(ContinuousClock.now < deadline) }
  }

  private let isNoted = """
    select coalesce(listening_until - clock_timestamp() between interval '20 seconds' and interval '30 seconds', false)
    from tacet.settings
    """

  private func conninfo(_ server: TestPostgres, _ database: String, port: UInt16) -> String {
    "host=127.0.0.1 port=\(port) user=postgres dbname=\(database) password=\(TestPostgres.password)"
  }
}
