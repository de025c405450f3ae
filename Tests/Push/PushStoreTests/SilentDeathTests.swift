import Foundation
import Postgres
import Reactors
import TestIDs
import TestPostgres
import TestReactors
import TestRepository
import Testing

@testable import PushStore

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
      #expect(try await database.sql(isNoted) == "t")
      try await database.sql("update tacet.settings set listening_until = null")
      let deadline = ContinuousClock.now + patience
      while try await database.sql(isNoted) != "t" { try #require(ContinuousClock.now < deadline) }
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

  private let isNoted = """
    select coalesce(listening_until - clock_timestamp() between interval '20 seconds' and interval '30 seconds', false)
    from tacet.settings
    """

  private func conninfo(_ server: TestPostgres, _ database: String, port: UInt16) -> String {
    "host=127.0.0.1 port=\(port) user=postgres dbname=\(database) password=\(TestPostgres.password)"
  }
}
