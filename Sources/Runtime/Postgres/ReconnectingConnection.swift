internal import Logging
internal import Reactors

/// Keeps one session open: connects, has its owner set it up, looks after it, and connects again when it ends.
final class ReconnectingConnection {
  /// How often an idle session is asked for a sign of life, and how long it may take.
  struct Heartbeat {
    let interval: Duration
    let limit: Duration
    /// The interval where there are other hosts, of which one may have taken over.
    var intervalAmongHosts: Duration?

    func interval(for connection: PostgresConnection) -> Duration {
      connection.otherTargets.isEmpty ? interval : intervalAmongHosts ?? interval
    }
  }

  private let configuration: PostgresConfiguration
  private let heartbeat: Heartbeat
  private let logger: Logger
  private weak var owner: (any ReconnectingConnectionOwner)?

  /// The session, from the end of its set-up until it ends.
  private(set) var connection: PostgresConnection?
  /// The session during its set-up too, so that ``close(on:)`` finds it.
  private var session: PostgresConnection?

  /// Sessions opened so far.
  private(set) var connects = 0
  /// Statements answered by sessions that have ended.
  private var answeredBefore = 0

  private var backoff: Backoff
  private var isResting = false
  private var isClosed = false
  /// Given when the present session ends; each session has its own, so that no end is taken for the next one's.
  private var sessionEnded = Signal()
  private let closing = Signal()
  private let stopped = Signal()

  /// - Parameter isEager: whether it tries often, because others follow when it succeeds.
  init(
    _ configuration: PostgresConfiguration, heartbeat: Heartbeat, isEager: Bool = false, logger: Logger,
    owner: any ReconnectingConnectionOwner
  ) {
    self.configuration = configuration
    backoff = isEager ? Backoff(cap: Backoff.eagerCap) : Backoff()
    self.heartbeat = heartbeat
    self.logger = logger
    self.owner = owner
  }

  var statementsAnswered: Int { answeredBefore + (session?.statementsAnswered ?? 0) }

  func start(on reactor: isolated Reactor) {
    configuration.hosts.add(self, on: reactor)
    reactor.start { await self.run(on: reactor) }
  }

  /// Ends the session and the attempts; returns when the task that made them has ended. Call it once, after `start`.
  func close(on reactor: isolated Reactor) async {
    isClosed = true
    configuration.hosts.remove(self)
    session?.close(on: reactor)
    closing.signal(on: reactor)
    _ = await stopped.wait(on: reactor)
  }

  /// Another session was opened: the server is there.
  func hurry(on reactor: isolated Reactor) {
    if isResting { closing.signal(on: reactor) }
  }

  /// Another session has found a host silent, and there is another one.
  func leave(_ target: ConnectionTarget, on reactor: isolated Reactor) {
    if let session, session.target == target { session.lose(PostgresConnection.silent, on: reactor) }
  }

  private func run(on reactor: isolated Reactor) async {
    while !isClosed {
      do throws(PostgresError) {
        try await open(on: reactor)
        await watch(on: reactor)
      } catch {
        session?.close(on: reactor)
        report("no database session", error, on: reactor)
      }
      if isClosed { break }
      var generator = SystemRandomNumberGenerator()
      isResting = true
      _ = await closing.wait(for: backoff.next(using: &generator), on: reactor)
      isResting = false
    }
    stopped.signal(on: reactor)
  }

  private func open(on reactor: isolated Reactor) async throws(PostgresError) {
    let session = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    if isClosed { return session.close(on: reactor) }
    self.session = session
    sessionEnded = Signal()
    session.observer = self
    try await check(session, on: reactor)
    try await owner?.setUp(session, on: reactor)
    guard session.isOpen else { return }
    connection = session
    connects += 1
    backoff.reset()
    configuration.outages.opened(logger)
    logger.debug("database session opened")
    owner?.connectionOpened(on: reactor)
  }

  /// Refuses a session that leads elsewhere than it should.
  private func check(
    _ session: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    guard let check = configuration.sessionCheck else { return }
    do throws(PostgresError) {
      let isOwn = try await session.query(check, on: reactor).one().decode(0, as: Bool.self)
      if !isOwn { throw PostgresError(.foreignDatabase) }
    } catch  where error.sqlState?.conditionClass == "42" {
      // A database without our tables has nothing to protect.
    }
  }

  /// Returns when the session has ended.
  private func watch(on reactor: isolated Reactor) async {
    while let connection {
      if await sessionEnded.wait(for: heartbeat.interval(for: connection), on: reactor) { continue }
      do throws(PostgresError) {
        try await checkAlive(connection, on: reactor)
      } catch  where error.code != .tooManyPending {
        connection.lose(error, on: reactor)
      } catch {
        // Too busy for a heartbeat is alive; its own deadlines watch over it.
      }
    }
  }

  private func checkAlive(
    _ connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await owner?.checkAlive(connection, within: heartbeat.limit, on: reactor)
  }

  private func report(_ stage: String, _ error: PostgresError, on reactor: isolated Reactor) {
    guard !isClosed else { return }
    configuration.outages.failed(error, logger)
    logger.debug(
      "database session failed", metadata: ["stage": "\(stage)", "error": "\(error.debugDescription)"])
    owner?.connectionFailed(error, on: reactor)
  }
}

extension ReconnectingConnection: PostgresConnectionObserver {
  func connectionEnded(_ reason: PostgresError, on reactor: isolated Reactor) {
    answeredBefore += session?.statementsAnswered ?? 0
    session = nil
    let wasOpen = connection != nil
    connection = nil
    sessionEnded.signal(on: reactor)
    owner?.sessionEnded(on: reactor)
    if wasOpen { report("database session ended", reason, on: reactor) }
  }

  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor) {
    owner?.notificationArrived(notification, on: reactor)
  }
}

/// What the owner of a reconnecting connection does and is told, on the reactor.
protocol ReconnectingConnectionOwner: AnyObject {
  /// Prepares a new session before anybody else uses it.
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError)

  /// Looks whether a session that nobody has asked anything lately is alive.
  /// - Throws: why it is not; it is then given up.
  func checkAlive(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError)

  /// The session can be used.
  func connectionOpened(on reactor: isolated Reactor)

  /// A session has ended, in its set-up or later: whoever waits for something to come from it waits in vain.
  func sessionEnded(on reactor: isolated Reactor)

  /// An attempt to connect has failed, or an open session has ended.
  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor)

  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor)
}

extension ReconnectingConnectionOwner {
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError) {}

  func checkAlive(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await connection.checkAlive(within: limit, on: reactor)
  }

  func connectionOpened(on reactor: isolated Reactor) {}

  func sessionEnded(on reactor: isolated Reactor) {}

  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor) {}

  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor) {}
}

extension PostgresConnection {
  /// Asks for the least that proves a session alive: an answer.
  func checkAlive(within limit: Duration, on reactor: isolated Reactor) async throws(PostgresError) {
    try await query(.heartbeat, within: limit, on: reactor)
  }
}
