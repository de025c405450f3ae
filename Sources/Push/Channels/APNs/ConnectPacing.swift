internal import DequeModule
internal import Reactors

/// How many connections a pool wants: one more when the streams of the present ones stay in use, one less when they were not
/// needed for long.
///
/// A value: time comes in as monotonic nanoseconds.
struct PoolDemand {
  private let connectionsMax: Int
  private let growAfter: UInt64
  private var busySince: UInt64?

  /// The most pushes in flight at once in the present period.
  private var peak = 0

  /// Connections wanted, at least 1.
  private(set) var wanted = 1

  init(_ configuration: APNSConfiguration) {
    connectionsMax = max(1, configuration.connectionsMax)
    growAfter = configuration.growAfter.clampedNanoseconds
  }

  /// Takes the load of a moment.
  /// - Parameters:
  ///   - inFlight: pushes on all connections.
  ///   - streams: the streams of all connections that allow more than one. APNs grants a single one to connections that it
  ///     does not trust, and more connections would not change that.
  ///   - connections: the number of connections.
  /// - Returns: whether one more is wanted than before.
  mutating func wantsMore(inFlight: Int, streams: Int, connections: Int, now: @autoclosure () -> UInt64) -> Bool {
    peak = max(peak, inFlight)
    guard streams > 0, inFlight >= streams - streams / 8, connections >= wanted, wanted < connectionsMax else {
      busySince = nil
      return false
    }
    let now = now()
    let since = busySince ?? now
    busySince = since
    guard now - since >= growAfter else { return false }
    busySince = nil
    wanted += 1
    return true
  }

  /// Ends a period, after which one connection may be closed.
  /// - Parameters:
  ///   - inFlight: pushes on all connections now.
  ///   - otherStreams: streams that remain without the connection in question.
  /// - Returns: whether half of those would have been enough for the whole period.
  mutating func endPeriod(inFlight: Int, otherStreams: Int) -> Bool {
    defer { peak = inFlight }
    return peak <= otherStreams / 2
  }

  /// Wants no more than the present connections until the load grows again.
  mutating func settle(for connections: Int) {
    wanted = min(wanted, max(1, connections))
    busySince = nil
  }
}

/// Connects that a pool may make for any reason: some at once, then one per interval.
///
/// APNs takes rapid opening and closing for an attack and refuses the address for a while. ``ReconnectBackoff`` slows down
/// after failures; this also bounds connections that work and end soon. A connection that was worth its opening refunds its
/// connect.
///
/// A value: time comes in as monotonic nanoseconds.
struct ConnectBudget {
  /// Answers that make a connection worth its opening, so that a server may recycle its connections by the number of their
  /// requests at any rate.
  static let answersForRefund = 500

  private let interval: UInt64
  private let tolerance: UInt64

  /// When the budget is full again without further connects.
  private var fullAt: UInt64 = 0

  /// - Parameters:
  ///   - burst: connects at once, at least 1. interval: until one more may be made.
  init(burst: Int, interval: Duration) {
    self.interval = interval.clampedNanoseconds
    tolerance = UInt64(max(burst, 1) - 1) * self.interval
  }

  func wait(now: UInt64) -> Duration {
    .nanoseconds(fullAt > now + tolerance ? Int64(fullAt - now - tolerance) : 0)
  }

  mutating func spend(now: UInt64) {
    fullAt = max(fullAt, now) + interval
  }

  mutating func refund() {
    fullAt -= min(fullAt, interval)
  }
}

/// The wait before the next connect: zero after a connection that worked, else one second doubling to sixty.
///
/// APNs takes rapid connecting for an attack and refuses the address for a while.
struct ReconnectBackoff {
  private static let base = Duration.seconds(1)
  private static let ceiling = Duration.seconds(60)

  private static let failuresAtCeiling = 7

  private var failures = 0

  mutating func succeeded() { failures = 0 }

  mutating func failed() { failures += 1 }

  /// The credential was refused: trying again soon only repeats it.
  mutating func refused() { failures = max(failures, Self.failuresAtCeiling) }

  /// - Parameter draw: a random number in `0 ..< 1`; the wait is taken from the upper half, so that replicas spread out.
  func wait(draw: Double) -> Duration {
    guard failures > 0 else { return .zero }
    return min(Self.base * (1 << min(failures - 1, 10)), Self.ceiling) * (0.5 + draw / 2)
  }
}

/// How many pushes may be in flight on a pool: any number while it works, few after an outage, then twice as many with
/// each round that succeeds.
///
/// Otherwise the backlog of an outage would meet a service that has just recovered all at once, and APNs lowers the throughput
/// of senders whose requests fail.
struct SlowStart {
  /// The first round. One packet's worth of requests, as TCP begins.
  static let firstRound = 16

  /// The last bounded round: one connection's streams at APNs.
  static let lastRound = 1024

  /// Faults without a success in between that make an outage.
  static let faultsMax = 5

  private(set) var limit = Int.max

  private var successes = 0
  private var faults = 0

  /// The pool had no connection, or only faults.
  mutating func restart() {
    limit = Self.firstRound
    successes = 0
    faults = 0
  }

  /// APNs has taken a push, or refused it for the push's fault.
  mutating func succeeded() {
    faults = 0
    guard limit < .max else { return }
    successes += 1
    guard successes >= limit else { return }
    successes = 0
    limit = limit < Self.lastRound ? limit * 2 : .max
  }

  /// A push met a fault that the next one would most likely meet too.
  mutating func failed() {
    faults += 1
    if faults >= Self.faultsMax { restart() }
  }
}

/// Pushes that wait for a free stream of their pool, first come, first served. One timer serves them all.
final class AdmissionQueue {
  /// Beyond it a push is turned away at once: behind so many others it would come too late.
  private static let waitersMax = 10_000

  private final class Waiter {
    /// Monotonic nanoseconds.
    var deadline: UInt64
    var link: APNSLink?
    var continuation: UnsafeContinuation<Void, Never>?

    init(deadline: UInt64) { self.deadline = deadline }
  }

  private var waiters = Deque<Waiter>()
  private var timer: TimerToken?
  /// When `timer` fires.
  private var nextLook = UInt64.max

  var isEmpty: Bool { waiters.isEmpty }

  var count: Int { waiters.count }

  /// Waits for ``admitFirst(to:)``.
  /// - Returns: nil when the deadline passed, the queue is full, or it has ended.
  func wait(until deadline: UInt64, on reactor: isolated Reactor) async -> APNSLink? {
    guard waiters.count < Self.waitersMax else { return nil }
    look(by: deadline, on: reactor)
    let waiter = Waiter(deadline: deadline)
    waiters.append(waiter)
    await withUnsafeContinuation { waiter.continuation = $0 }
    return waiter.link
  }

  /// Admits the push that has waited longest. It runs later in this tick.
  func admitFirst(to link: APNSLink) {
    guard let waiter = waiters.popFirst() else { return }
    waiter.link = link
    waiter.continuation?.resume()
  }

  func shorten(to deadline: UInt64, on reactor: isolated Reactor) {
    guard !waiters.isEmpty else { return }
    for waiter in waiters { waiter.deadline = min(waiter.deadline, deadline) }
    look(by: deadline, on: reactor)
  }

  /// Turns every push away.
  func end() {
    while let waiter = waiters.popFirst() { waiter.continuation?.resume() }
  }

  /// Pushes usually have the same limits, so the timer at the earliest deadline rarely moves.
  private func look(by deadline: UInt64, on reactor: isolated Reactor) {
    guard deadline < nextLook else { return }
    if let timer { reactor.cancel(timer) }
    nextLook = deadline
    let now = Reactor.now
    timer = reactor.schedule(after: .nanoseconds(deadline > now ? Int64(clamping: deadline - now) : 0), self)
  }
}

extension AdmissionQueue: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    let now = Reactor.now
    self.timer = nil
    nextLook = .max
    for waiter in waiters where waiter.deadline <= now { waiter.continuation?.resume() }
    waiters.removeAll { $0.deadline <= now }
    if let next = waiters.lazy.map(\.deadline).min() { look(by: next, on: reactor) }
  }
}
