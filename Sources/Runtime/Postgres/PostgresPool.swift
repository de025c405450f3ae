package import Logging
package import Reactors

/// A few sessions of one reactor, opened at the start and reopened when they end.
/// Statements share sessions through their pipelines. The pool has several sessions because commits on one wait for each other,
/// while commits on different ones share a disk flush (4 to 32 sessions gave 3.5 times the rate of synchronous commits). Belongs
/// to one reactor. Call ``close(within:on:)`` at the end.
package final class PostgresPool {
  package struct Counters: Sendable, Equatable {
    /// Statements answered.
    package var roundTrips = 0
    package var reconnects = 0

    package static func + (a: Counters, b: Counters) -> Counters {
      Counters(roundTrips: a.roundTrips + b.roundTrips, reconnects: a.reconnects + b.reconnects)
    }
  }

  package struct Usage: Sendable, Equatable {
    /// Open sessions without a pending statement.
    package var idle = 0
    /// Sessions with a pending statement, or leased.
    package var inUse = 0
    /// Sessions that are being opened.
    package var closed = 0
    package var waiting = 0

    package static func + (a: Usage, b: Usage) -> Usage {
      Usage(
        idle: a.idle + b.idle, inUse: a.inUse + b.inUse, closed: a.closed + b.closed, waiting: a.waiting + b.waiting)
    }
  }

  /// Callers that may wait for a session; more are refused. 4096 callers take a few megabytes.
  private static let waitersMax = 4096
  /// By how much the other sessions are opened after the first: the server forks and warms up a process for each, and one
  /// session serves all until then.
  private static let headStart = Duration.milliseconds(100)
  /// How often an idle session is checked: more often than the five minutes after which common firewalls drop a connection.
  private static let heartbeat = ReconnectingConnection.Heartbeat(interval: .seconds(60), limit: .seconds(5))

  /// The heartbeat of one session for the whole pool. With several hosts, it takes three quarters of a second from a host's
  /// silence to a session with the next: this interval, the time until it is doubted, and the head start of its host.
  private static let watchfulHeartbeat = ReconnectingConnection.Heartbeat(
    interval: .seconds(60), limit: .seconds(5), intervalAmongHosts: .milliseconds(250))

  package let configuration: PostgresConfiguration
  private let size: Int
  private let acquireLimit: Duration
  private let opensOnDemand: Bool
  private let isWatchful: Bool
  private let logger: Logger
  var members: [ReconnectingConnection] = []
  /// What sessions have done that were closed for want of work.
  var restedCounters = Counters()
  private(set) var idling: PoolIdling?
  private var waiters: [Signal] = []
  private var isClosed = false
  /// When the last session ended, while none is open, in monotonic nanoseconds.
  var lostAt: UInt64?
  /// When a session was opened after all had ended, in monotonic nanoseconds.
  var returnedAt: UInt64?
  package weak var observer: (any PostgresPoolObserver)?
  /// Called for each statement, before it waits for a session.
  package var onUse: (() -> Void)?

  /// Makes a pool that is not connected yet.
  /// - Parameters:
  ///   - size: the number of sessions.
  ///   - acquireLimit: how long a caller waits while no session can be used.
  ///   - opensOnDemand: whether the first caller starts the pool, instead of ``start(on:)``.
  ///   - idleLimit: after how long without a statement the sessions are closed; the next caller opens them again. Nil keeps
  ///     them open.
  package init(
    _ configuration: PostgresConfiguration, size: Int = 4, acquireLimit: Duration = .seconds(1),
    opensOnDemand: Bool = false, idleLimit: Duration? = nil, logger: Logger
  ) {
    precondition(size > 0, "a pool needs a session")
    self.configuration = configuration
    self.size = size
    self.acquireLimit = acquireLimit
    self.opensOnDemand = opensOnDemand || idleLimit != nil
    isWatchful = !opensOnDemand
    self.logger = logger
    idling = idleLimit.map { PoolIdling(of: self, limit: $0) }
  }

  /// Begins to open the sessions, in the background. Call it once.
  package func start(on reactor: isolated Reactor) {
    precondition(members.isEmpty, "a pool is started once")
    members = (0..<size).map { number in
      let heartbeat = number == 0 && isWatchful ? Self.watchfulHeartbeat : Self.heartbeat
      return ReconnectingConnection(
        configuration, heartbeat: heartbeat, isEager: number == 0, delay: number == 0 ? .zero : Self.headStart,
        logger: logger, owner: self)
    }
    for member in members { member.start(on: reactor) }
    idling?.used(on: reactor)
  }

  package var isReady: Bool { members.contains { $0.connection != nil } }

  /// Whether the server of an open session has just refused a write.
  package func takesNoWrites(now: UInt64) -> Bool {
    members.contains { $0.connection?.target.map { configuration.hosts.refusesWrites($0, now: now) } ?? false }
  }

  /// Why the last session ended or could not be opened; nil once a session is opened.
  package internal(set) var failure: PostgresError?

  package var openCount: Int { members.count { $0.connection != nil } }

  package var usage: Usage {
    var usage = Usage()
    usage.waiting = waiters.count
    for member in members {
      switch member.connection?.pendingCount {
      case nil: usage.closed += 1
      case 0 where !member.isLeased: usage.idle += 1
      default: usage.inUse += 1
      }
    }
    return usage
  }

  package var counters: Counters {
    members.reduce(into: restedCounters) { counters, member in
      counters.roundTrips += member.statementsAnswered
      counters.reconnects += max(0, member.connects - 1)
    }
  }

  /// Refuses new statements, waits for pending ones, and ends the sessions. Call it once.
  /// - Parameter limit: how long to wait for pending statements. Those left fail.
  package func close(within limit: Duration = .seconds(5), on reactor: isolated Reactor) async {
    isClosed = true
    idling?.cancel(on: reactor)
    wakeWaiters(on: reactor)
    let deadline = Reactor.now + limit.clampedNanoseconds
    await awaitLeases(until: deadline, on: reactor)
    for connection in members.compactMap(\.connection) {
      _ = await connection.drain(within: .until(deadline), on: reactor)
    }
    for member in members { await member.close(on: reactor) }
  }
}

// Finding a session.
extension PostgresPool {
  /// The session with the fewest pending statements, the first of them; nil if no session can be used now.
  var leastBusy: ReconnectingConnection? {
    if isClosed { return nil }
    var best: (member: ReconnectingConnection, pending: Int)?
    for member in members {
      guard let pending = member.usable?.pendingCount else { continue }
      if pending == 0 { return member }
      if pending < best?.pending ?? pendingMax { best = (member, pending) }
    }
    return best?.member
  }

  /// In transaction mode, a statement is sent when the one before it is answered. PgBouncer switches sessions when it sees the end
  /// of a transaction, and may have forwarded the beginning of the next message by then. Now and then one server then gets the
  /// first part of a message and another the rest (seen with 1.18: "invalid frontend message type"; compare its issue 759).
  private var pendingMax: Int { configuration.poolMode == .transaction ? 1 : .max }

  private func awaitLeases(until deadline: UInt64, on reactor: isolated Reactor) async {
    while members.contains(where: \.isLeased), Reactor.now < deadline {
      await awaitChange(until: deadline, on: reactor)
    }
  }

  /// Returns when a session was opened or returned, or at the deadline.
  private func awaitChange(until deadline: UInt64, on reactor: isolated Reactor) async {
    let signal = Signal()
    waiters.append(signal)
    _ = await signal.wait(for: .until(deadline), on: reactor)
    waiters.removeAll { $0 === signal }
  }

  func awaitUsable(on reactor: isolated Reactor) async throws(PostgresError) -> ReconnectingConnection {
    if opensOnDemand, members.isEmpty, !isClosed { start(on: reactor) }
    // An open session is busy and will be free. A session that is not open may never be.
    let isBusy = isReady && configuration.poolMode == .transaction
    let limit = isBusy ? max(acquireLimit, configuration.answerLimit) : acquireLimit
    let deadline = Reactor.now + limit.clampedNanoseconds
    while true {
      if let member = leastBusy { return member }
      guard !isClosed, Reactor.now < deadline else { throw notConnected }
      guard waiters.count < Self.waitersMax else { throw PostgresError(.tooManyPending, "waiting for a session") }
      await awaitChange(until: deadline, on: reactor)
    }
  }

  var notConnected: PostgresError {
    if isClosed { return PostgresError(.notConnected, "the pool is closed") }
    return (failure ?? PostgresError(.notConnected)).with(code: .notConnected)
  }

  /// A session is free, so one caller can continue.
  func wakeFirstWaiter(on reactor: isolated Reactor) {
    guard !waiters.isEmpty else { return }
    waiters.removeFirst().signal(on: reactor)
  }

  func wakeWaiters(on reactor: isolated Reactor) {
    let woken = waiters
    waiters.removeAll(keepingCapacity: true)
    for waiter in woken { waiter.signal(on: reactor) }
  }
}

extension PostgresPool: ReconnectingConnectionOwner {
  func setUp(_ connection: PostgresConnection, on reactor: isolated Reactor) async throws(PostgresError) {}

  func checkAlive(
    _ connection: PostgresConnection, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await connection.checkAlive(within: limit, on: reactor)
  }

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {}

  func connectionOpened(on reactor: isolated Reactor) {
    failure = nil
    reportReturn(on: reactor)
    for member in members { member.hurry(on: reactor) }
    wakeWaiters(on: reactor)
  }

  func sessionEnded(on reactor: isolated Reactor) {
    if lostAt == nil, !isReady, members.contains(where: { $0.connects > 0 }) { lostAt = Reactor.now }
  }

  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor) { failure = error }
}

// A pool with an idle limit closes the sessions that have nothing to do, and the next statement opens them again.
extension PostgresPool {
  /// Whether the sessions were closed for want of work, and no attempt to open them has failed since. False for a pool
  /// without an idle limit.
  package var isResting: Bool { idling?.hasRested == true && failure == nil && !isReady }

  private func noteUse(on reactor: isolated Reactor) {
    onUse?()
    idling?.used(on: reactor)
  }

  var isUnused: Bool { usage.waiting == 0 && usage.inUse == 0 }

  /// Closes the sessions. This is no loss of the database: what was committed on them is safe.
  func rest(on reactor: isolated Reactor) {
    restedCounters = counters
    let resting = members
    members = []
    (failure, lostAt, returnedAt) = (nil, nil, nil)
    // All at once: while one is closed, the next may fail to connect, which would be the pool's failure for ever.
    for member in resting { member.retire() }
    reactor.start {
      for member in resting { await member.close(on: reactor) }
    }
  }
}

/// Ends the sessions of a pool that nobody uses: one timer, set again while they are used.
final class PoolIdling {
  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pool: PostgresPool?
  private let limit: Duration
  private var usedAt: UInt64 = 0
  private var timer: TimerToken?
  /// Whether the sessions were ever closed for want of work.
  private(set) var hasRested = false

  init(of pool: PostgresPool, limit: Duration) {
    self.pool = pool
    self.limit = limit
  }

  func used(on reactor: isolated Reactor) {
    usedAt = Reactor.now
    if timer == nil { timer = reactor.schedule(after: limit, self) }
  }

  func cancel(on reactor: isolated Reactor) { reactor.cancel(&timer) }
}

extension PoolIdling: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    guard let pool else { return }
    let idle = Duration.nanoseconds(Int64(Reactor.now &- usedAt))
    if idle >= limit, pool.isUnused {
      hasRested = true
      pool.rest(on: reactor)
    } else {
      self.timer = reactor.schedule(after: idle < limit ? limit - idle : limit, self)
    }
  }
}

extension PostgresPool {
  /// Runs a statement on the least-loaded session. Retries it a few times after a deadlock or a serialization failure, because a
  /// single statement is a whole transaction.
  ///
  /// Waits up to the pool's limit while no session can be used.
  /// - Parameters:
  ///   - limit: how long each attempt waits for its answer.
  ///   - time: how long to leave the database to others after its return.
  /// - Throws: ``PostgresError``; ``PostgresError/Code/notConnected`` if no session was opened in time.
  @discardableResult
  package func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    afterReturn time: Duration = .zero, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    noteUse(on: reactor)
    var retry = ConflictRetry()
    var generator = SystemRandomNumberGenerator()
    while true {
      do throws(PostgresError) {
        var member = leastBusy
        if member == nil { member = try await awaitUsable(on: reactor) }
        if let rest = rest(afterReturn: time) {
          await reactor.sleep(for: rest)
          continue
        }
        guard let connection = member?.usable else { throw notConnected }
        defer { if configuration.poolMode == .transaction { wakeFirstWaiter(on: reactor) } }
        return try await connection.query(statement, parameters, within: limit, on: reactor)
      } catch {
        guard let wait = retry.wait(after: error, using: &generator) else { throw error }
        await reactor.sleep(for: wait)
      }
    }
  }
}

extension PostgresPool {
  /// Leases a session to `body` exclusively, for transactions and session state.
  /// The session returns to the pool after `body`. A session left in a transaction is closed and replaced.
  /// - Throws: the error of `body`, or ``PostgresError/Code/notConnected``.
  package func withConnection<Value>(
    on reactor: isolated Reactor, _ body: (PostgresConnection) async throws -> Value
  ) async throws -> Value {
    noteUse(on: reactor)
    let member = try await awaitUsable(on: reactor)
    guard let connection = member.usable else { throw PostgresError(.notConnected) }
    member.isLeased = true
    let result = await Result(awaiting: { () async throws -> Value in try await body(connection) })
    let isDrained = await connection.drain(within: configuration.answerLimit, on: reactor)
    if !isDrained || !connection.isOutsideTransaction { connection.close(on: reactor) }
    member.isLeased = false
    wakeWaiters(on: reactor)
    return try result.get()
  }
}

// The time after the database's return.
extension PostgresPool {
  /// A session is open. If it is the first after a loss, the observer is called.
  func reportReturn(on reactor: isolated Reactor) {
    guard let lostAt else { return }
    self.lostAt = nil
    returnedAt = Reactor.now
    observer?.databaseReturned(lostAt: lostAt, on: reactor)
  }

  /// How long a statement must wait to leave the database to others after its return; nil if it may run.
  private func rest(afterReturn time: Duration) -> Duration? {
    guard let returnedAt, time > .zero else { return nil }
    let (elapsed, wait) = (Reactor.now &- returnedAt, time.clampedNanoseconds)
    return elapsed < wait ? .nanoseconds(Int64(wait - elapsed)) : nil
  }
}

/// Handles the return of the database, before other work.
package protocol PostgresPoolObserver: AnyObject {
  /// A session is open again after all had ended.
  /// - Parameter lostAt: when the last session ended, in monotonic nanoseconds.
  func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor)
}
