import Reactors
import TestLogs
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("The race for a session")
struct ConnectRaceTests {
  private static func hole() throws -> ListeningSocket {
    try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0)))
  }

  @Test("a host that refuses for whatever reason leaves the next its turn")
  func refusing() async throws {
    let (lacking, having) = (try await TestPostgres.launch(), try await TestPostgres.shared)
    let database = try await having.makeDatabase().split(separator: "dbname=")[1]
    let hosts = "host=\(lacking.folder),\(having.folder) port=\(lacking.port),\(having.port)"
    try await withConnection(to: "\(hosts) user=postgres dbname=\(database)") { connection, _ in
      #expect(connection.host == having.folder)
    }
  }

  @Test("when all refuse, the error names each host and its reason")
  func reasons() async throws {
    let server = try await TestPostgres.shared
    let hole = try Self.hole()
    defer { withExtendedLifetime(hole) {} }
    let port = hole.address.port
    let error = try await failure {
      let hosts = "host=\(server.folder),127.0.0.1 port=\(server.port),\(port) user=postgres dbname=absent"
      try await withConnection(to: hosts, { $0.connectLimit = .seconds(3) }) { _, _ in }
    }
    #expect(error.code == .notConnected && error.sqlState == .invalidCatalogName)
    #expect(error.message.contains(server.folder) && error.message.contains("\"absent\" does not exist"))
    #expect(error.message.contains("127.0.0.1:\(port): no answer in time"))
  }

  @Test("one that wants a standby first takes another server only where there is none")
  func prefersStandby() async throws {
    let server = try await TestPostgres.shared
    let standby = try await TestPostgres.launch()
    let copy = try await standby.launchStandby()
    let hosts = "host=\(server.folder),\(copy.folder) port=\(server.port),\(copy.port) user=postgres"
    try await withConnection(to: hosts + " target_session_attrs=prefer-standby") { connection, _ in
      #expect(connection.host == copy.folder)
    }
  }

  @Test("a silent host costs the head start once, and is tried last by whoever shares the configuration")
  func silentFirst() async throws {
    let (server, hole) = (try await TestPostgres.shared, try Self.hole())
    defer { withExtendedLifetime(hole) {} }
    let port = hole.address.port
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(
        conninfo: "host=127.0.0.1,\(server.folder) port=\(port),\(server.port) user=postgres")
      let start = Reactor.now
      let first = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      #expect(Reactor.now - start >= ConnectRace.headStart.clampedNanoseconds)
      first.close(on: reactor)
      var parameters = try ConnectionParameters(configuration)
      try await parameters.resolve()
      let targets = parameters.targets
      #expect(configuration.hosts.order(targets, now: Reactor.now) == targets.reversed())
      let later = Reactor.now + HostMemory.life.clampedNanoseconds + 1
      #expect(configuration.hosts.order(targets, now: later) == targets)
    }
  }

  @Test("a server that falls silent is left for another well within a second or two")
  func fallsSilent() async throws {
    let (doomed, other) = (try await TestPostgres.launch(), try await TestPostgres.shared)
    let hosts = "host=\(doomed.folder),\(other.folder) port=\(doomed.port),\(other.port) user=postgres"
    try await onReactor { reactor in
      var configuration = PostgresConfiguration(conninfo: hosts)
      (configuration.statementLimit, configuration.answerLimit) = (.seconds(60), .seconds(60))
      let pool = PostgresPool(configuration, size: 1, acquireLimit: patience, logger: quiet)
      pool.start(on: reactor)
      try await pool.query(one, on: reactor)
      doomed.freeze()
      defer { doomed.thaw() }
      let start = Reactor.now
      do throws(PostgresError) {
        try await pool.query(one, on: reactor)
        Issue.record("a frozen server answered")
      } catch {
        #expect(error.code == .connectionLost)
      }
      #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(other.port))
      // Three quarters of a second by the rules; without them the answer's limit of a minute.
      #expect(Reactor.now - start < patience.clampedNanoseconds)
      await pool.close(on: reactor)
    }
  }

  @Test(
    "a late answer is doubted after a second, and after a quarter where there is another host",
    arguments: [true, false])
  func doubt(isAlone: Bool) async throws {
    try await withConnection { connection, reactor in
      if !isAlone { connection.otherTargets = [ConnectionTarget(host: "b", address: "", port: "1")] }
      reactor.start { _ = try? await connection.query(sleepStatement, [0.1], on: reactor) }
      await Task.yield()
      try #require(connection.pendingCount == 1)
      let wait = Duration.milliseconds(isAlone ? 1000 : 250)
      #expect(connection.doubtDeadline == connection.oldestSince + wait.clampedNanoseconds)
      _ = await connection.drain(within: patience, on: reactor)
    }
  }

  @Test("a statement that is merely slow keeps its session")
  func slow() async throws {
    try await withConnection { connection, reactor in
      try await connection.query(sleepStatement, [1.8], on: reactor)
      #expect(connection.isOpen)
    }
  }

  @Test("hosts that refuse are tried behind the others, and silent ones last")
  func order() {
    let memory = HostMemory()
    let targets = ["a", "b", "c", "d"].map { ConnectionTarget(host: $0, address: "", port: "1") }
    memory.record(.silent, of: targets[0], now: 5)
    memory.record(.refuses, of: targets[1], now: 5)
    #expect(memory.order(targets, now: 6).map(\.host) == ["c", "d", "b", "a"])
    memory.record(.open, of: targets[0], now: 7)
    #expect(memory.order(targets, now: 8).map(\.host) == ["a", "c", "d", "b"])
    #expect(memory.mayAsk(targets[0], each: .seconds(1), now: 10))
    #expect(!memory.mayAsk(targets[0], each: .seconds(1), now: 1_000_000_009))
    #expect(memory.mayAsk(targets[0], each: .seconds(1), now: 1_000_000_010))
  }

  @Test("an outage leaves a line with its reason, and one when it is over, however many sessions meet it")
  func log() {
    let (lines, outages) = (LogLines(), OutageLog())
    outages.opened(lines.logger)
    for _ in 0..<5 { outages.failed(PostgresError(.notConnected, "a:1: refused"), lines.logger) }
    outages.opened(lines.logger)
    outages.opened(lines.logger)
    #expect(lines.texts == ["error: no database connection", "notice: database connection is back"])
    #expect(lines.all[0].metadata["error"] == "no database connection: a:1: refused")
  }
}

@Suite("Several hosts, and one that fails")
struct HostFailureTests {
  private static func hosts(_ first: TestPostgres, _ second: TestPostgres) -> PostgresConfiguration {
    PostgresConfiguration(conninfo: first.conninfo(or: second))
  }

  @Test("a full server leaves the next its turn, and gets sessions again when it has room")
  func full() async throws {
    let full = try await TestPostgres.launch(settings: ["max_connections=3", "superuser_reserved_connections=1"])
    let other = try await TestPostgres.shared
    try await onReactor { reactor in
      let own = PostgresConfiguration(conninfo: full.conninfo())
      var held: [PostgresConnection] = []
      for _ in 0..<3 { held.append(try await PostgresConnection.connect(own, logger: quiet, on: reactor)) }
      let error = try await failure {
        try await PostgresConnection.connect(own, logger: quiet, on: reactor).close(on: reactor)
      }
      #expect(error.code == .notConnected && error.message.contains("too many clients already"))
      #expect(try await Self.connectedPort(Self.hosts(full, other), on: reactor) == Int(other.port))
      for connection in held { connection.close(on: reactor) }
      // A server process needs a moment to leave; there is nothing to wait on but the server's own word.
      while true {
        do throws(PostgresError) {
          try await PostgresConnection.connect(own, logger: quiet, on: reactor).close(on: reactor)
          break
        } catch {
          #expect(error.message.contains("too many clients already"))
        }
      }
      while try await Self.connectedPort(Self.hosts(full, other), on: reactor) != Int(full.port) {}
    }
  }

  private static func connectedPort(
    _ configuration: PostgresConfiguration, on reactor: isolated Reactor
  ) async throws -> Int {
    let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
    defer { connection.close(on: reactor) }
    return try await connection.query(port, on: reactor).one().decode(0)
  }

  @Test("a standby that is promoted while a connect waits for a silent host is taken")
  func promotedMeanwhile() async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    primary.freeze()
    defer { primary.thaw() }
    try await onReactor { reactor in
      var configuration = Self.hosts(primary, standby)
      configuration.connectLimit = .seconds(60)
      let target = ConnectionTarget(host: standby.folder, address: "", port: "\(standby.port)")
      reactor.start { [configuration] in
        // The race has met the standby as one; it waits for the primary now, which says nothing.
        while configuration.hosts.finding(on: target, since: 0) != .refuses {
          await reactor.sleep(for: .milliseconds(1))
        }
        try? await standby.promote()
      }
      let port = try await Self.connectedPort(configuration, on: reactor)
      #expect(port == Int(standby.port))
    }
  }

  @Test(
    "when the primary falls silent, every session of the process goes to the promoted standby at once",
    arguments: [true, false])
  func silent(isPromotedAtOnce: Bool) async throws {
    let primary = try await TestPostgres.launch()
    let standby = try await primary.launchStandby()
    try await onReactor { reactor in
      let configuration = Self.hosts(primary, standby)
      let watchful = PostgresPool(configuration, size: 1, acquireLimit: patience, logger: quiet)
      let idle = PostgresPool(configuration, size: 1, acquireLimit: patience, opensOnDemand: true, logger: quiet)
      let recorder = ListenerRecorder()
      let listener = PostgresListener(
        configuration, channels: ["wake"], heartbeatInterval: .seconds(60), logger: quiet, handler: recorder)
      watchful.start(on: reactor)
      listener.start(on: reactor)
      for pool in [watchful, idle] {
        #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(primary.port))
      }
      try await recorder.awaitState("listening", on: reactor)
      primary.freeze()
      defer { primary.thaw() }
      // Without another host to go to, a second of silence ends the session.
      if !isPromotedAtOnce { while watchful.isReady { await reactor.sleep(for: .milliseconds(1)) } }
      try await standby.promote()
      let promoted = Reactor.now
      // It may be back before the promotion is told.
      try await recorder.awaitListening(times: 2, on: reactor)
      // A session that is lost at its first statement would throw here.
      for pool in [watchful, idle] {
        #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(standby.port))
      }
      // 0.75 s by the rules; half a minute would be the heartbeat's.
      #expect(Reactor.now - promoted < Duration.seconds(10).clampedNanoseconds)
      await listener.close(on: reactor)
      await idle.close(on: reactor)
      await watchful.close(on: reactor)
    }
  }

  @Test("one host that falls silent keeps its sessions, since there is none to go to, until a second has passed")
  func alone() async throws {
    let server = try await TestPostgres.launch()
    try await withConnection(to: server.conninfo()) { connection, reactor in
      server.freeze()
      reactor.start {
        // Beyond the quarter that is enough where there is another, and far from the second on a busy machine too.
        await reactor.sleep(for: .milliseconds(500))
        server.thaw()
      }
      try await connection.query(one, on: reactor)
      #expect(connection.isOpen)
    }
  }
}

@Suite("A server that begins to refuse writes")
struct ReadOnlyServerTests {
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
