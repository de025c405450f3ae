/// How many pushes may be in flight on a lane: any number while it works, few after an outage, then twice as many with
/// each round that succeeds.
///
/// What an outage has dammed up would otherwise meet a service that has just come back all at once, and APNs lowers the
/// throughput of senders whose requests fail.
struct SlowStart {
  /// The first round. One packet's worth of requests, as TCP begins.
  static let firstRound = 16

  /// The last round with a bound: one connection's streams at APNs.
  static let lastRound = 1024

  /// Faults without a success in between that make an outage; fewer are bad luck.
  static let faultsMax = 5

  /// Pushes that may be in flight now.
  private(set) var limit = Int.max

  private var successes = 0
  private var faults = 0

  /// The lane was away, or had nothing but faults.
  mutating func restart() {
    limit = Self.firstRound
    successes = 0
    faults = 0
  }

  /// APNs has taken a push, or refused it for the push's own fault.
  mutating func succeeded() {
    faults = 0
    guard limit < .max else { return }
    successes += 1
    guard successes >= limit else { return }
    successes = 0
    limit = limit < Self.lastRound ? limit * 2 : .max
  }

  /// A push met a fault that the next one would most likely meet as well.
  mutating func failed() {
    faults += 1
    if faults >= Self.faultsMax { restart() }
  }
}
