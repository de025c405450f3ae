package import Logging
package import Reactors

/// A session that listens for notifies. It is kept open, and its state is reported to a handler.
/// A notify is a hint: notifies sent while the session is away are lost, so poll whenever the state becomes ``State/listening``.
/// The session can also hold state of one session, such as an advisory lock, which ends with ``State/lost(_:)``.
package final class PostgresListener {
  package enum State: Sendable {
    /// The session listens to every channel from now on. Reported after each connect.
    case listening
    /// Notifies do not arrive, and the listener reconnects. Reported for each loss and each failed attempt.
    case lost(PostgresError)
  }

  /// The channels, as case-sensitive names rather than SQL.
  package let channels: [String]
  private let configuration: PostgresConfiguration
  private let heartbeat: ReconnectingConnection.Heartbeat
  private let probe: ListenProbe?
  private weak var probeSender: (any PostgresProbeSender)?
  private let logger: Logger
  private weak var handler: (any PostgresListenerHandler)?
  private var slot: ReconnectingConnection?

  /// Makes a listener that is not connected yet.
  /// - Parameters:
  ///   - heartbeatInterval: how often an idle session is checked.
  ///   - heartbeatLimit: how long a check may take before the session is closed. A vanished server is noticed within the sum of
  ///     both.
  ///   - probeSender: sends a notify from another session for each check, the first before ``State/listening``. If it cannot
  ///     send, an answer within another second keeps the session. Without a sender, a check is an answered statement. Weak.
  ///   - handler: weak.
  package init(
    _ configuration: PostgresConfiguration, channels: [String], heartbeatInterval: Duration = .seconds(10),
    heartbeatLimit: Duration = .seconds(5), probeSender: (any PostgresProbeSender)? = nil, logger: Logger,
    handler: any PostgresListenerHandler
  ) {
    probe = probeSender.map { ListenProbe(sender: $0) }
    self.probeSender = probeSender
    self.configuration = configuration
    self.channels = channels
    heartbeat = .init(interval: heartbeatInterval, limit: heartbeatLimit)
    self.logger = logger
    self.handler = handler
  }

  /// Begins to connect, in the background. Call it once.
  package func start(on reactor: isolated Reactor) {
    precondition(slot == nil, "a listener is started once")
    let slot = ReconnectingConnection(
      configuration, heartbeat: heartbeat, isEager: true, logger: logger, owner: self)
    self.slot = slot
    slot.start(on: reactor)
  }

  package var isListening: Bool { slot?.connection != nil }

  package var reconnects: Int { max(0, (slot?.connects ?? 0) - 1) }

  /// The listening session, for statements that must run on it; nil while away. Do not close it.
  package var connection: PostgresConnection? { slot?.connection }

  /// Runs a statement on the listening session.
  /// - Throws: ``PostgresError/Code/notConnected`` at once while the session is away; otherwise like a connection.
  @discardableResult
  package func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    guard let connection else { throw PostgresError(.notConnected).of(statement: statement.name) }
    return try await connection.query(statement, parameters, within: limit, on: reactor)
  }

  /// Ends the session and the attempts to open one. The handler is not called any more. Call it once, after `start`.
  package func close(on reactor: isolated Reactor) async { await slot?.close(on: reactor) }
}

/// Handles notifies, on the listener's reactor.
package protocol PostgresListenerHandler: AnyObject {
  /// Another session sent a notify. Equal notifies of one transaction arrive as one.
  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor)

  func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor)
}

extension PostgresListener: ReconnectingConnectionOwner {
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError) {
    let all = channels + (probe.map { [$0.channel] } ?? [])
    for (number, channel) in all.enumerated() {
      let identifier = channel.quotedIdentifier
      try await connection.query(PostgresStatement("listen_\(number)", "listen \(identifier)"), on: reactor)
    }
    guard let probe else { return }
    if case .unproven(let error) = try await probe.check(connection, within: heartbeat.limit, on: reactor) {
      throw error
    }
  }

  func checkAlive(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    guard let probe else { return try await connection.checkAlive(within: limit, on: reactor) }
    switch try await probe.check(connection, within: limit, on: reactor) {
    case .hears: probeSender?.probeHeard(on: reactor)
    // This session answers. The owner of the other sessions reports their failure.
    case .unproven(let error): logger.debug("no probe was sent", metadata: ["error": "\(error.debugDescription)"])
    }
  }

  func connectionOpened(on reactor: isolated Reactor) {
    handler?.listenerStateChanged(.listening, on: reactor)
  }

  func sessionEnded(on reactor: isolated Reactor) { probe?.cancel(on: reactor) }

  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor) {
    handler?.listenerStateChanged(.lost(error), on: reactor)
  }

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    if let probe, notification.channel == probe.channel {
      probe.heard(notification.payload, on: reactor)
    } else {
      handler?.notificationArrived(notification, on: reactor)
    }
  }
}

/// Tests whether a listening session receives notifies: another session notifies a channel that only this listener uses.
/// An answered statement proves less, because a pooler in transaction mode answers but drops the LISTEN.
final class ListenProbe {
  /// How long the session has to answer when no probe could be sent.
  private static let answerLimit: Duration = .seconds(1)

  let channel = "tacet_probe_" + String(UInt64.random(in: .min ... .max), radix: 16)

  private weak var sender: (any PostgresProbeSender)?
  private var present: Attempt?

  init(sender: any PostgresProbeSender) { self.sender = sender }

  private final class Attempt {
    let token = String(UInt64.random(in: .min ... .max), radix: 16)
    let changed = Signal()
    var isHeard = false
    /// Whether the other session could send; nil while it sends.
    var sent: Result<Void, PostgresError>?
  }

  /// The result for a session that did not fail.
  enum Finding {
    case hears
    /// The session answers, but no notify could be sent.
    case unproven(PostgresError)
  }

  /// Sends a notify and waits for it.
  /// Runs no statement on the listening session meanwhile. A pooler in transaction mode might run it on the server session that
  /// listens, and deliver a notify that would not arrive otherwise.
  /// - Throws: ``PostgresError/Code/deaf`` when it was sent and did not arrive; otherwise why the session does not answer.
  func check(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Finding {
    let attempt = Attempt()
    present = attempt
    defer { present = nil }
    reactor.start { await self.send(attempt, on: reactor) }
    await awaitNews(of: attempt, from: connection, within: limit, on: reactor)
    if attempt.isHeard { return .hears }
    if case .success = attempt.sent, connection.isOpen { throw PostgresError(.deaf) }
    // Nothing was sent. Check whether the server is away or only the other sessions are busy.
    try await connection.checkAlive(within: Self.answerLimit, on: reactor)
    if case .failure(let error) = attempt.sent { return .unproven(error) }
    return .unproven(PostgresError(.timedOut, "the probe was not sent in time"))
  }

  /// Returns when the notify has arrived or cannot be sent, or at the limit.
  private func awaitNews(
    of attempt: Attempt, from connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async {
    let deadline = Reactor.now + limit.clampedNanoseconds
    while !attempt.isHeard, connection.isOpen {
      if case .failure = attempt.sent { return }
      guard Reactor.now < deadline else { return }
      _ = await attempt.changed.wait(for: .until(deadline), on: reactor)
    }
  }

  /// A notify has arrived on the probe's channel.
  func heard(_ token: String, on reactor: isolated Reactor) {
    guard let present, present.token == token else { return }
    present.isHeard = true
    present.changed.signal(on: reactor)
  }

  /// The session has ended, and with it the wait.
  func cancel(on reactor: isolated Reactor) { present?.changed.signal(on: reactor) }

  private func send(_ attempt: Attempt, on reactor: isolated Reactor) async {
    attempt.sent = await Result(awaiting: { () async throws(PostgresError) in
      guard let sender else { throw PostgresError(.notConnected, "nobody sends") }
      try await sender.sendProbe(attempt.token, to: channel, on: reactor)
    })
    attempt.changed.signal(on: reactor)
  }
}

/// Sends the probes of a ``PostgresListener``.
package protocol PostgresProbeSender: AnyObject {
  /// Notifies the channel from another session than the listener's.
  func sendProbe(_ token: String, to channel: String, on reactor: isolated Reactor) async throws(PostgresError)

  /// The listener has received the notify, and so receives all.
  func probeHeard(on reactor: isolated Reactor)
}
