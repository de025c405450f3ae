internal import CLibpq
internal import Logging
internal import Reactors
internal import Synchronization

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

extension PostgresConnection {
  func checkAlive(within limit: Duration, on reactor: isolated Reactor) async throws(PostgresError) {
    try await query(.heartbeat, within: limit, on: reactor)
  }
}

/// Growing waits between attempts, with full jitter so that many clients do not return in step.
/// A wait is drawn evenly from `0 ..< min(cap, base · 2^n)`, where `n` is the number of attempts since the last success. Source:
/// AWS Architecture Blog, "Exponential Backoff And Jitter".
struct Backoff {
  /// The ceiling of the first wait. A server that restarts cleanly is back in about this time.
  static let base: Duration = .milliseconds(50)
  /// The ceiling of all waits: the latest that the return of a server is noticed.
  static let cap: Duration = .seconds(5)
  /// The ceiling of all waits of the one session that other sessions wait for.
  static let eagerCap: Duration = .milliseconds(500)

  private let cap: Duration
  private var attempts = 0

  init(cap: Duration = Backoff.cap) { self.cap = cap }

  /// The largest wait that could be drawn now.
  var ceiling: Duration { min(cap, Backoff.base * (1 << min(attempts, 16))) }

  /// Draws a wait and counts the attempt.
  mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { attempts += 1 }
    return ceiling.jittered(using: &generator)
  }

  /// The attempt succeeded; the next wait is short again.
  mutating func reset() { attempts = 0 }
}

/// Retries of a statement that the server rolled back because of a conflict with another one, as the manual asks for (section
/// 13.5, "Serialization Failure Handling"). A single statement is a whole transaction, so nothing of it remains.
/// Waits are drawn evenly from `0 ..< base · 2^n`, so that the same two statements do not meet again.
struct ConflictRetry {
  /// More conflicts in a row mean a load that further attempts only increase.
  static let retriesMax = 4
  /// About the time of a small statement. The last wait is below 40 ms.
  static let base: Duration = .milliseconds(5)

  private(set) var retries = 0

  /// Draws the wait before the next attempt.
  /// - Returns: nil if the statement should not run again.
  mutating func wait(
    after error: PostgresError, using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    // Not the whole class 40: after 40003 the statement may have taken effect.
    guard error.code == .server, error.sqlState == .serializationFailure || error.sqlState == .deadlockDetected,
      retries < Self.retriesMax
    else { return nil }
    let ceiling = Self.base * (1 << retries)
    retries += 1
    return ceiling.jittered(using: &generator)
  }
}

extension Duration {
  /// A time drawn evenly from zero to this one. One random word is a fraction of 2^64; `random(in:)` may draw more.
  fileprivate func jittered(using generator: inout some RandomNumberGenerator) -> Duration {
    .nanoseconds(clampedNanoseconds.multipliedFullWidth(by: generator.next()).high)
  }
}

/// Logs outages of the database: a line when one begins, one a minute with the number of attempts, and one when a session opens
/// again. All copies of a ``PostgresConfiguration`` share it, and so do the sessions of a process.
final class OutageLog: Sendable {
  private struct State {
    var line = MinuteLine()
    /// Whether a line about the current outage was logged.
    var isTold = false
  }

  private let state = Mutex(State())

  /// A session ended, or could not be opened.
  func failed(_ error: PostgresError, _ logger: Logger) {
    let times = state.withLock { state -> Int? in
      let times = state.line.note(now: Reactor.now)
      if times != nil { state.isTold = true }
      return times
    }
    guard let times else { return }
    logger.error(
      "no database connection", metadata: ["error": "\(error.debugDescription)", "times": "\(times)"])
  }

  func opened(_ logger: Logger) {
    let isTold = state.withLock { state in
      defer { state.isTold = false }
      return state.isTold
    }
    if isTold { logger.notice("database connection is back") }
  }
}

/// Logs the server's notices and warnings at debug. Logs only the SQLSTATE of those that functions raise, because they may quote
/// rows.
final class NoticeLog: Sendable {
  private let logger: Logger
  private let handler: (@Sendable (String) -> Void)?

  init(_ logger: Logger, handler: (@Sendable (String) -> Void)? = nil) {
    self.logger = logger
    self.handler = handler
  }

  /// libpq calls back with this object inside its calls. The pointer can be unretained, because the connection that owns the
  /// handle also owns this object and frees the handle first.
  func attach(to connection: OpaquePointer) {
    PQsetNoticeReceiver(
      connection,
      { argument, result in
        guard let argument else { return }
        Unmanaged<NoticeLog>.fromOpaque(argument).takeUnretainedValue().log(result)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func log(_ result: OpaquePointer?) {
    guard handler != nil || logger.logLevel <= .debug else { return }
    let notice = PostgresError(report: result)
    let isWarning = PQresultErrorField(result, CLIBPQ_DIAG_SEVERITY).map { String(cString: $0) } == "WARNING"
    // Notices of existing names are of no interest.
    if notice.isRaised || isWarning { handler?(notice.message) }
    logger.debug(
      "database notice",
      metadata: ["sqlstate": "\(notice.sqlState?.description ?? "")", "message": "\(notice.messageWithoutValues)"])
  }
}
