internal import Logging
internal import Reactors

/// Keeps one session open: connects, lets its owner set it up, checks it, and reconnects when it ends.
final class ReconnectingConnection {
  /// How often an idle session is checked, and how long a check may take.
  struct Heartbeat {
    let interval: Duration
    let limit: Duration
    /// The interval if there are other hosts, of which one may have taken over.
    var intervalAmongHosts: Duration?

    func interval(for connection: PostgresConnection) -> Duration {
      connection.otherTargets.isEmpty ? interval : intervalAmongHosts ?? interval
    }
  }

  private let configuration: PostgresConfiguration
  private let heartbeat: Heartbeat
  private let delay: Duration
  private let logger: Logger
  private weak var owner: (any ReconnectingConnectionOwner)?

  /// The session, from the end of its set-up to its end.
  private(set) var connection: PostgresConnection?
  /// Whether one caller of a pool has the session exclusively.
  var isLeased = false
  /// The session including its set-up, so that ``close(on:)`` finds it.
  private var session: PostgresConnection?

  private(set) var connects = 0
  /// Statements answered by sessions that have ended.
  private var answeredBefore = 0

  private var backoff: Backoff
  private var isResting = false
  private var isClosed = false
  /// Given when the current session ends. Each session has a new one, so that its end is not taken for that of the next.
  private var sessionEnded = Signal()
  private let closing = Signal()
  private let stopped = Signal()

  /// - Parameters:
  ///   - isEager: whether to try often, because other sessions follow when this one succeeds.
  ///   - delay: before the first attempt.
  init(
    _ configuration: PostgresConfiguration, heartbeat: Heartbeat, isEager: Bool = false, delay: Duration = .zero,
    logger: Logger,
    owner: any ReconnectingConnectionOwner
  ) {
    self.configuration = configuration
    backoff = isEager ? Backoff(cap: Backoff.eagerCap) : Backoff()
    self.heartbeat = heartbeat
    self.delay = delay
    self.logger = logger
    self.owner = owner
  }

  var usable: PostgresConnection? { isLeased ? nil : connection }

  var statementsAnswered: Int { answeredBefore + (session?.statementsAnswered ?? 0) }

  func start(on reactor: isolated Reactor) {
    configuration.hosts.add(self, on: reactor)
    reactor.start { await self.run(on: reactor) }
  }

  /// From now on attempts that fail are not reported. ``close(on:)`` ends them.
  func retire() { isClosed = true }

  /// Ends the session and the attempts, and returns when their task has ended. Call it once, after `start`.
  func close(on reactor: isolated Reactor) async {
    retire()
    configuration.hosts.remove(self)
    session?.close(on: reactor)
    closing.signal(on: reactor)
    _ = await stopped.wait(on: reactor)
  }

  /// Another session was opened, so try again now.
  func hurry(on reactor: isolated Reactor) {
    if isResting { closing.signal(on: reactor) }
  }

  /// Another session has found this host silent and another host open.
  func leave(_ target: ConnectionTarget, on reactor: isolated Reactor) {
    if let session, session.target == target { session.lose(PostgresConnection.silent, on: reactor) }
  }

  private func run(on reactor: isolated Reactor) async {
    if delay > .zero { _ = await closing.wait(for: delay, on: reactor) }
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
    session.keeper = self
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

  /// Refuses a session with the wrong database.
  private func check(_ session: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError) {
    guard let check = configuration.sessionCheck else { return }
    do throws(PostgresError) {
      let isOwn = try await session.check(check, on: reactor)
      if !isOwn { throw PostgresError(.foreignDatabase) }
    } catch  where error.sqlState?.conditionClass == "42" {
      // A database without Tacet's tables has nothing to protect.
    }
  }

  /// Returns when the session has ended.
  private func watch(on reactor: isolated Reactor) async {
    while let connection {
      if await sessionEnded.wait(for: heartbeat.interval(for: connection), on: reactor) { continue }
      do throws(PostgresError) {
        try await owner?.checkAlive(connection, within: heartbeat.limit, on: reactor)
      } catch  where error.code != .tooManyPending {
        connection.lose(error, on: reactor)
      } catch {
        // A busy session is alive, and has the deadlines of its statements.
      }
    }
  }

  private func report(_ stage: String, _ error: PostgresError, on reactor: isolated Reactor) {
    guard !isClosed else { return }
    configuration.outages.failed(error, logger)
    logger.debug(
      "database session failed", metadata: ["stage": "\(stage)", "error": "\(error.debugDescription)"])
    owner?.connectionFailed(error, on: reactor)
  }
}

// Called by the session.
extension ReconnectingConnection {
  /// The session has ended, and its pending statements have failed.
  func connectionEnded(_ reason: PostgresError, on reactor: isolated Reactor) {
    answeredBefore += session?.statementsAnswered ?? 0
    session = nil
    let wasOpen = connection != nil
    connection = nil
    sessionEnded.signal(on: reactor)
    owner?.sessionEnded(on: reactor)
    if wasOpen { report("database session ended", reason, on: reactor) }
  }

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    owner?.notificationArrived(notification, on: reactor)
  }
}

/// The owner of a reconnecting connection, on its reactor.
protocol ReconnectingConnectionOwner: AnyObject {
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError)

  /// Checks that an idle session is alive.
  /// - Throws: why it is not. The session is then closed.
  func checkAlive(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError)

  /// The session can be used.
  func connectionOpened(on reactor: isolated Reactor)

  /// A session has ended, in its set-up or later.
  func sessionEnded(on reactor: isolated Reactor)

  /// An attempt to connect has failed, or an open session has ended.
  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor)

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor)
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

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {}
}

extension PostgresConnection {
  func checkAlive(within limit: Duration, on reactor: isolated Reactor) async throws(PostgresError) {
    try await query(.heartbeat, within: limit, on: reactor)
  }
}
