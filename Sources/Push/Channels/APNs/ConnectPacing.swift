internal import Reactors

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
