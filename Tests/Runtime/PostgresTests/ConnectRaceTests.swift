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
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: "\(hosts) user=postgres dbname=\(database)")
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      #expect(connection.host == having.folder)
      connection.close(on: reactor)
    }
  }

  @Test("when all refuse, the error names each host and its reason")
  func reasons() async throws {
    let server = try await TestPostgres.shared
    let hole = try Self.hole()
    defer { withExtendedLifetime(hole) {} }
    let port = hole.address.port
    let error = try await failure {
      try await onReactor { reactor in
        var configuration = PostgresConfiguration(
          conninfo:
            "host=\(server.folder),127.0.0.1 port=\(server.port),\(port) user=postgres dbname=absent")
        configuration.connectLimit = .seconds(3)
        try await PostgresConnection.connect(configuration, logger: quiet, on: reactor).close(on: reactor)
      }
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
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: hosts + " target_session_attrs=prefer-standby")
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      #expect(connection.host == copy.folder)
      connection.close(on: reactor)
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
      let pool = PostgresPool(
        PostgresConfiguration(conninfo: hosts), size: 1, acquireLimit: .seconds(5), logger: quiet)
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
      let port = PostgresStatement("port", "select current_setting('port')::int")
      #expect(try await pool.query(port, on: reactor).one().decode(0) == Int(other.port))
      #expect(Reactor.now - start < Duration.seconds(2).clampedNanoseconds)
      await pool.close(on: reactor)
    }
  }

  @Test(
    "a late answer is doubted after a second, and after a quarter where there is another host",
    arguments: [true, false])
  func patience(isAlone: Bool) async throws {
    try await withConnection { connection, reactor in
      if !isAlone { connection.otherTargets = [ConnectionTarget(host: "b", address: "", port: "1")] }
      reactor.start { _ = try? await connection.query(sleepStatement, [0.1], on: reactor) }
      while connection.pendingCount == 0 { await reactor.sleep(for: .milliseconds(1)) }
      let wait = Duration.milliseconds(isAlone ? 1000 : 250)
      #expect(connection.doubtDeadline == connection.oldestSince + wait.clampedNanoseconds)
      _ = await connection.drain(within: .seconds(5), on: reactor)
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
