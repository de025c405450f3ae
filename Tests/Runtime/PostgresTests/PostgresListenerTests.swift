import Postgres
import Reactors
import TestPostgres
import TestReactors
import Testing

@Suite("Listener")
struct PostgresListenerTests {
  private let lock = PostgresStatement("lock", "select pg_try_advisory_lock($1)", [.int8])

  @Test("notifications arrive with channel and payload, whatever the channel is called")
  func receives() async throws {
    let server = try await TestPostgres.shared
    try await withListener(server.conninfo(), channels: ["wake", "Odd \"name\""]) { listener, recorder, reactor in
      try await recorder.awaitState("listening", on: reactor)
      try await server.psql("notify wake, 'one'; notify wake, 'two'; notify \"Odd \"\"name\"\"\"; notify other")
      try await recorder.awaitNotifications(3, on: reactor)
      #expect(recorder.notifications.map(\.channel) == ["wake", "wake", "Odd \"name\""])
      #expect(recorder.notifications.map(\.payload) == ["one", "two", ""])
    }
  }

  @Test("statements and session locks live on the listening session")
  func statements() async throws {
    let server = try await TestPostgres.shared
    try await withListener(server.conninfo(), channels: ["wake"]) { listener, recorder, reactor in
      try await recorder.awaitState("listening", on: reactor)
      #expect(try await listener.query(lock, [77], on: reactor).one().decode(0, as: Bool.self))
      let other = try await server.psql("select pg_try_advisory_lock(77)")
      #expect(other == "f\n")
      #expect(listener.connection?.isOpen == true)
    }
  }

  @Test("a restart of the server is told as lost, and listening goes on by itself")
  func survivesRestart() async throws {
    let server = try await TestPostgres.launch()
    try await withListener(server.conninfo(), channels: ["wake"]) { listener, recorder, reactor in
      try await recorder.awaitState("listening", on: reactor)
      try await server.stop()
      try await recorder.awaitState("lost", on: reactor)
      let error = try await failure { try await listener.query(one, on: reactor) }
      #expect(error.code == .notConnected)
      try await server.start()
      try await recorder.awaitState("listening", on: reactor)
      try await server.psql("notify wake, 'again'")
      try await recorder.awaitNotifications(1, on: reactor)
      #expect(recorder.notifications.map(\.payload) == ["again"])
      #expect(listener.reconnects == 1)
    }
  }

  @Test("a server that stands still is noticed by the heartbeat")
  func heartbeat() async throws {
    let server = try await TestPostgres.launch()
    try await withListener(server.conninfo(), channels: ["wake"], heartbeat: .milliseconds(20)) {
      listener, recorder, reactor in
      try await recorder.awaitState("listening", on: reactor)
      server.freeze()
      try await recorder.awaitState("lost", on: reactor)
      server.thaw()
      try await recorder.awaitState("listening", on: reactor)
    }
  }

  private func withListener(
    _ conninfo: String, channels: [String], heartbeat: Duration = .seconds(10),
    _ body: @escaping @Sendable (PostgresListener, ListenerRecorder, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      let recorder = ListenerRecorder()
      let listener = PostgresListener(
        PostgresConfiguration(conninfo: conninfo), channels: channels, heartbeatInterval: heartbeat,
        heartbeatLimit: heartbeat, logger: quiet, handler: recorder)
      listener.start(on: reactor)
      let result: Result<Void, any Error>
      do {
        try await body(listener, recorder, reactor)
        result = .success(())
      } catch {
        result = .failure(error)
      }
      await listener.close(on: reactor)
      try result.get()
    }
  }
}
