public import Logging
public import Reactors

/// One session that listens for notifications, kept open, with its state told to a handler.
///
/// A notification is a hint: those sent while the session is away are lost, so look for yourself whenever the state
/// becomes ``State/listening``. The session can also carry what must live on one session, such as an advisory lock;
/// such state ends with the session, that is with ``State/lost(_:)``.
public final class PostgresListener {
  /// Whether notifications arrive.
  public enum State: Sendable {
    /// Every channel is listened to, since now: also after each reconnect.
    case listening
    /// Nothing arrives; connecting again is under way. Told once per loss and once per failed attempt.
    case lost(PostgresError)
  }

  /// The channels, as names rather than SQL: case matters.
  public let channels: [String]

  private let configuration: PostgresConfiguration
  private let heartbeat: ReconnectingConnection.Heartbeat
  private let probe: ListenProbe?
  private weak var probeSender: (any PostgresProbeSender)?
  private let logger: Logger
  private weak var handler: (any PostgresListenerHandler)?
  private var slot: ReconnectingConnection?

  /// Makes a listener that is not connected yet.
  /// - Parameters:
  ///   - heartbeatInterval: how often a silent session is asked for a sign of life.
  ///   - heartbeatLimit: how long the sign may take before the session is given up. The sum of both bounds how long a
  ///     vanished server goes unnoticed.
  ///   - probeSender: with one, the sign of life is a notification that it sends from another session, first of all
  ///     before ``State/listening`` is told; without one it is an answered statement. When the sender cannot send, an
  ///     answer within a further second is enough to keep the session. Not kept alive.
  ///   - handler: not kept alive.
  public init(
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
  public func start(on reactor: isolated Reactor) {
    precondition(slot == nil, "a listener is started once")
    let slot = ReconnectingConnection(
      configuration, heartbeat: heartbeat, isEager: true, logger: logger, owner: self)
    self.slot = slot
    slot.start(on: reactor)
  }

  /// Whether every channel is listened to now.
  public var isListening: Bool { slot?.connection != nil }

  /// Sessions opened after the first.
  public var reconnects: Int { max(0, (slot?.connects ?? 0) - 1) }

  /// The listening session, for statements that must run on it; nil while it is away. Do not close it.
  public var connection: PostgresConnection? { slot?.connection }

  /// Runs a statement on the listening session.
  /// - Throws: ``PostgresError/Code/notConnected`` at once while the session is away; otherwise as a connection does.
  @discardableResult
  public func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    guard let connection else { throw PostgresError(.notConnected).of(statement: statement.name) }
    return try await connection.query(statement, parameters, within: limit, on: reactor)
  }

  /// Ends the session and the attempts to open one. Nothing is told any more. Call it once, after `start`.
  public func close(on reactor: isolated Reactor) async {
    await slot?.close(on: reactor)
  }
}

/// Told about notifications, on the listener's reactor.
public protocol PostgresListenerHandler: AnyObject {
  /// Another session sent a notification. Several equal ones of one transaction arrive as one.
  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor)

  /// Notifications begin to arrive, or no longer do.
  func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor)
}

extension PostgresListener: ReconnectingConnectionOwner {
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError) {
    let all = channels + (probe.map { [$0.channel] } ?? [])
    for (number, channel) in all.enumerated() {
      let identifier = "\"" + channel.reduce(into: "") { $0 += $1 == "\"" ? "\"\"" : String($1) } + "\""
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
    // The other sessions are ill, and their owner will say so; this one answers.
    case .unproven(let error): logger.debug("no probe was sent", metadata: ["error": "\(error.debugDescription)"])
    }
  }

  func connectionOpened(on reactor: isolated Reactor) {
    handler?.listenerStateChanged(.listening, on: reactor)
  }

  func sessionEnded(on reactor: isolated Reactor) {
    probe?.cancel(on: reactor)
  }

  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor) {
    handler?.listenerStateChanged(.lost(error), on: reactor)
  }

  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor) {
    if let probe, notification.channel == probe.channel {
      probe.heard(notification.payload, on: reactor)
    } else {
      handler?.notificationArrived(notification, on: reactor)
    }
  }
}
