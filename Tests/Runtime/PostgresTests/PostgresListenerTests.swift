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
      let result = await Result(awaiting: { () async throws in try await body(listener, recorder, reactor) })
      await listener.close(on: reactor)
      try result.get()
    }
  }
}

@Suite("Listener with probes")
struct ListenProbeTests {
  @Test("listening is told after the first probe was heard, and each one after that is told to its sender")
  func proven() async throws {
    try await withProbes(.sends, limit: patience) { scene, reactor in
      try await scene.awaitTrue(on: reactor) { scene.isListening }
      let before = scene.heard
      try await scene.awaitTrue(on: reactor) { scene.heard > before + 1 }
      #expect(scene.failures.isEmpty)
    }
  }

  @Test("a probe that is sent and does not come is deafness, and listening is not told")
  func deaf() async throws {
    try await withProbes(.loses) { scene, reactor in
      try await scene.awaitTrue(on: reactor) { scene.failures.count > 1 }
      #expect(scene.failures.allSatisfy { $0 == .deaf })
      #expect(!scene.isListening && scene.heard == 0)
      scene.conduct = .sends
      try await scene.awaitTrue(on: reactor) { scene.isListening }
      scene.conduct = .loses
      try await scene.awaitTrue(on: reactor) { !scene.isListening }
    }
  }

  @Test("a probe that cannot be sent proves nothing: listening is not begun by it, and not ended")
  func unproven() async throws {
    try await withProbes(.refuses) { scene, reactor in
      try await scene.awaitTrue(on: reactor) { scene.failures.count > 1 }
      #expect(scene.failures.allSatisfy { $0 == .timedOut })
      scene.conduct = .sends
      try await scene.awaitTrue(on: reactor) { scene.isListening }
      scene.conduct = .refuses
      let before = scene.refusals
      try await scene.awaitTrue(on: reactor) { scene.refusals > before + 2 }
      #expect(scene.isListening)
    }
  }

  private func withProbes(
    _ conduct: ProbeScene.Conduct, limit: Duration = .seconds(1),
    _ body: @escaping @Sendable (ProbeScene, isolated Reactor) async throws -> Void
  ) async throws {
    let configuration = PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo())
    try await onReactor { reactor in
      let other = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
      defer { other.close(on: reactor) }
      let scene = ProbeScene(other, conduct)
      let listener = PostgresListener(
        configuration, channels: ["probed"], heartbeatInterval: .milliseconds(10), heartbeatLimit: limit,
        probeSender: scene, logger: quiet, handler: scene)
      listener.start(on: reactor)
      let result = await Result(awaiting: { () async throws in try await body(scene, reactor) })
      await listener.close(on: reactor)
      try result.get()
    }
  }
}

/// Sends probes or does not, and notes what comes of it.
private final class ProbeScene: PostgresProbeSender, PostgresListenerHandler {
  enum Conduct { case sends, loses, refuses }

  var conduct: Conduct
  private(set) var isListening = false
  private(set) var failures: [PostgresError.Code] = []
  private(set) var heard = 0
  private(set) var refusals = 0
  private let other: PostgresConnection
  private let changed = Signal()

  init(_ other: PostgresConnection, _ conduct: Conduct) {
    self.other = other
    self.conduct = conduct
  }

  func sendProbe(_ token: String, to channel: String, on reactor: isolated Reactor) async throws(PostgresError) {
    switch conduct {
    case .sends: try await other.query(notify, [channel, token], on: reactor)
    case .loses: try await other.query(one, on: reactor)
    case .refuses:
      refusals += 1
      changed.signal(on: reactor)
      // A limit that is over at once.
      try await other.query(sleepStatement, [0.01], within: .zero, on: reactor)
    }
  }

  func probeHeard(on reactor: isolated Reactor) {
    heard += 1
    changed.signal(on: reactor)
  }

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    Issue.record("a probe is not passed on")
  }

  func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    switch state {
    case .listening: isListening = true
    case .lost(let error):
      isListening = false
      failures.append(error.code)
    }
    changed.signal(on: reactor)
  }

  func awaitTrue(on reactor: isolated Reactor, _ condition: () -> Bool) async throws {
    while !condition() { try #require(await changed.wait(for: patience, on: reactor)) }
  }
}

private let notify = PostgresStatement("notify", "select pg_notify($1, $2)", [.text, .text])
