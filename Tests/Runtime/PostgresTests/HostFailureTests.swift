import Reactors
import TestPostgres
import TestReactors
import Testing

@testable import Postgres

@Suite("Several hosts, and one that fails")
struct HostFailureTests {
  private static let port = PostgresStatement("port", "select current_setting('port')::int")

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
      let configuration = Self.hosts(primary, standby)
      let target = ConnectionTarget(host: standby.folder, address: "", port: "\(standby.port)")
      reactor.start {
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
      let watchful = PostgresPool(configuration, size: 1, acquireLimit: .seconds(10), logger: quiet)
      let idle = PostgresPool(configuration, size: 1, acquireLimit: .seconds(10), opensOnDemand: true, logger: quiet)
      let recorder = ListenerRecorder()
      let listener = PostgresListener(
        configuration, channels: ["wake"], heartbeatInterval: .seconds(60), logger: quiet, handler: recorder)
      watchful.start(on: reactor)
      listener.start(on: reactor)
      for pool in [watchful, idle] {
        #expect(try await pool.query(Self.port, on: reactor).one().decode(0) == Int(primary.port))
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
        #expect(try await pool.query(Self.port, on: reactor).one().decode(0) == Int(standby.port))
      }
      // 0.75 s by the rules; half a minute would be the heartbeat's.
      #expect(Reactor.now - promoted < Duration.seconds(3).clampedNanoseconds)
      await listener.close(on: reactor)
      await idle.close(on: reactor)
      await watchful.close(on: reactor)
    }
  }

  @Test("one host that falls silent keeps its sessions, since there is none to go to, until a second has passed")
  func alone() async throws {
    let server = try await TestPostgres.launch()
    try await onReactor { reactor in
      let configuration = PostgresConfiguration(conninfo: server.conninfo())
      let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      server.freeze()
      reactor.start {
        await reactor.sleep(for: .milliseconds(900))
        server.thaw()
      }
      try await connection.query(one, on: reactor)
      #expect(connection.isOpen)
      connection.close(on: reactor)
    }
  }
}
