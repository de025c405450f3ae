public import Logging
public import Reactors

/// A few sessions of one reactor, opened at the start and opened again whenever they end.
///
/// Statements share sessions through their pipelines; several sessions matter because commits on one wait for each
/// other, while commits on different ones share a disk flush (4 to 32 sessions gave 3.5 times the rate of synchronous
/// commits). Belongs to one reactor; ``close(on:)`` it.
public final class PostgresPool {
  /// What the pool has done so far.
  public struct Counters: Sendable, Equatable {
    /// Statements answered.
    public var roundTrips = 0
    /// Sessions opened after the first of each place.
    public var reconnects = 0

    /// What two pools have done together.
    public static func + (a: Counters, b: Counters) -> Counters {
      Counters(roundTrips: a.roundTrips + b.roundTrips, reconnects: a.reconnects + b.reconnects)
    }
  }

  /// What the pool's sessions do now.
  public struct Usage: Sendable, Equatable {
    /// Sessions that are open and have nothing to do.
    public var idle = 0
    /// Sessions with a statement under way, or lent to somebody.
    public var inUse = 0
    /// Places whose session is being opened.
    public var closed = 0
    /// Callers that wait for a session.
    public var waiting = 0

    /// What the sessions of two pools do together.
    public static func + (a: Usage, b: Usage) -> Usage {
      Usage(
        idle: a.idle + b.idle, inUse: a.inUse + b.inUse, closed: a.closed + b.closed, waiting: a.waiting + b.waiting)
    }
  }

  /// A place for one session.
  final class Member {
    let slot: ReconnectingConnection
    var isLeased = false

    init(_ slot: ReconnectingConnection) { self.slot = slot }

    /// The session, when anybody may use it.
    var usable: PostgresConnection? { isLeased ? nil : slot.connection }
  }

  /// Callers waiting for a session at the same time. They hold their own memory only; 4096 of them are some megabytes.
  private static let waitersMax = 4096

  /// How often an idle session is asked for a sign of life: below the five minutes after which common firewalls forget
  /// a connection.
  private static let heartbeat = ReconnectingConnection.Heartbeat(interval: .seconds(60), limit: .seconds(5))

  /// The same of one session among several hosts, for all of its pool: with the time until it is doubted and the head start
  /// of its host, three quarters of a second from a host's silence to a session with the next.
  private static let watchfulHeartbeat = ReconnectingConnection.Heartbeat(
    interval: .seconds(60), limit: .seconds(5), intervalAmongHosts: .milliseconds(250))

  let configuration: PostgresConfiguration
  private let size: Int
  private let acquireLimit: Duration
  private let opensOnDemand: Bool
  private let logger: Logger
  private(set) var members: [Member] = []
  private var waiters: [Signal] = []
  private var isClosed = false
  private var lastFailure: PostgresError?
  /// When the last session ended, while none is open; monotonic nanoseconds.
  var lostAt: UInt64?
  /// When a session was opened after all had ended; monotonic nanoseconds.
  var returnedAt: UInt64?

  /// Told when the database is back.
  public weak var observer: (any PostgresPoolObserver)?

  /// Makes a pool that is not connected yet.
  /// - Parameters:
  ///   - size: sessions.
  ///   - acquireLimit: how long a caller waits while no session can be used.
  ///   - opensOnDemand: whether the first caller starts it, instead of ``start(on:)``.
  public init(
    _ configuration: PostgresConfiguration, size: Int = 4, acquireLimit: Duration = .seconds(1),
    opensOnDemand: Bool = false, logger: Logger
  ) {
    precondition(size > 0, "a pool needs a session")
    self.configuration = configuration
    self.size = size
    self.acquireLimit = acquireLimit
    self.opensOnDemand = opensOnDemand
    self.logger = logger
  }

  /// Begins to open the sessions, in the background. Call it once.
  public func start(on reactor: isolated Reactor) {
    precondition(members.isEmpty, "a pool is started once")
    members = (0..<size).map { number in
      let heartbeat = number == 0 && !opensOnDemand ? Self.watchfulHeartbeat : Self.heartbeat
      return Member(
        ReconnectingConnection(configuration, heartbeat: heartbeat, isEager: number == 0, logger: logger, owner: self))
    }
    for member in members { member.slot.start(on: reactor) }
  }

  /// Whether at least one session is open.
  public var isReady: Bool { members.contains { $0.slot.connection != nil } }

  /// Why the last attempt to open a session failed, or the last session ended; nil once one has been opened since.
  public var failure: PostgresError? { lastFailure }

  /// Sessions open now.
  public var openCount: Int { members.count { $0.slot.connection != nil } }

  /// What the pool's sessions do now.
  public var usage: Usage {
    var usage = Usage()
    usage.waiting = waiters.count
    for member in members {
      switch member.slot.connection?.pendingCount {
      case nil: usage.closed += 1
      case 0 where !member.isLeased: usage.idle += 1
      default: usage.inUse += 1
      }
    }
    return usage
  }

  /// What the pool has done so far.
  public var counters: Counters {
    members.reduce(into: Counters()) { counters, member in
      counters.roundTrips += member.slot.statementsAnswered
      counters.reconnects += max(0, member.slot.connects - 1)
    }
  }

  /// Stops taking statements, waits for those under way, and ends the sessions. Call it once.
  /// - Parameter limit: how long to wait for statements under way; those left then fail.
  public func close(within limit: Duration = .seconds(5), on reactor: isolated Reactor) async {
    isClosed = true
    wakeWaiters(on: reactor)
    let deadline = Reactor.now + limit.clampedNanoseconds
    await awaitLeases(until: deadline, on: reactor)
    for connection in members.compactMap(\.slot.connection) {
      _ = await connection.drain(within: .nanoseconds(remaining(until: deadline)), on: reactor)
    }
    for member in members { await member.slot.close(on: reactor) }
  }
}

// Finding a session.
extension PostgresPool {
  /// The member to use next; nil when none can be used now.
  var leastBusy: Member? {
    if isClosed { return nil }
    var best: (member: Member, pending: Int)?
    for member in members {
      guard let pending = member.usable?.pendingCount, pending < best?.pending ?? pendingMax else { continue }
      best = (member, pending)
    }
    return best?.member
  }

  /// Behind a pooler that lends sessions by transactions, a statement is sent when the one before it is answered. PgBouncer
  /// lends the next session when it sees that a transaction is over, and has then passed on the beginning of what came behind
  /// it, so that now and then one server gets the first part of a message and another the rest (seen with 1.18: "invalid
  /// frontend message type"; its issue 759 is of the same kind).
  private var pendingMax: Int { configuration.poolMode == .transaction ? 1 : .max }

  private func awaitLeases(until deadline: UInt64, on reactor: isolated Reactor) async {
    while members.contains(where: \.isLeased), remaining(until: deadline) > 0 {
      await awaitChange(until: deadline, on: reactor)
    }
  }

  /// Returns when a session opened or was given back, or when the deadline passed.
  private func awaitChange(until deadline: UInt64, on reactor: isolated Reactor) async {
    let signal = Signal()
    waiters.append(signal)
    _ = await signal.wait(for: .nanoseconds(remaining(until: deadline)), on: reactor)
    waiters.removeAll { $0 === signal }
  }

  private func remaining(until deadline: UInt64) -> UInt64 {
    let now = Reactor.now
    return deadline - min(now, deadline)
  }

  /// Waits for a member whose session can be used.
  func awaitUsable(on reactor: isolated Reactor) async throws(PostgresError) -> Member {
    if opensOnDemand, members.isEmpty, !isClosed { start(on: reactor) }
    // A session that is open is busy, and will be free; one that is not may never come.
    let isBusy = isReady && configuration.poolMode == .transaction
    let limit = isBusy ? max(acquireLimit, configuration.answerLimit) : acquireLimit
    let deadline = Reactor.now + limit.clampedNanoseconds
    while true {
      if let member = leastBusy { return member }
      guard !isClosed, remaining(until: deadline) > 0 else { throw notConnected }
      guard waiters.count < Self.waitersMax else { throw PostgresError(.tooManyPending, "waiting for a session") }
      await awaitChange(until: deadline, on: reactor)
    }
  }

  var notConnected: PostgresError {
    if isClosed { return PostgresError(.notConnected, "the pool is closed") }
    return (lastFailure ?? PostgresError(.notConnected)).with(code: .notConnected)
  }

  /// One session is free: one caller can go on.
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
  func connectionOpened(on reactor: isolated Reactor) {
    lastFailure = nil
    noteReturn(on: reactor)
    for member in members { member.slot.hurry(on: reactor) }
    wakeWaiters(on: reactor)
  }

  func sessionEnded(on reactor: isolated Reactor) {
    if lostAt == nil, !isReady, members.contains(where: { $0.slot.connects > 0 }) { lostAt = Reactor.now }
  }

  func connectionFailed(_ error: PostgresError, on reactor: isolated Reactor) {
    lastFailure = error
  }
}
