internal import Reactors

/// Connects that a lane may make: some at once, then one per interval, whatever the reason for them.
///
/// APNs takes rapid opening and closing for an attack and refuses the address for a while. ``ReconnectBackoff`` slows
/// down after failures; this bounds connections that work and end soon, too. A connection that was worth its opening gives
/// its connect back.
///
/// A value: time comes in as monotonic nanoseconds.
struct ConnectBudget {
  /// Answers that make a connection worth its opening, so that a server which recycles its connections by the number of
  /// their requests is followed at any rate.
  static let answersForRefund = 500

  private let interval: UInt64
  private let tolerance: UInt64

  /// When the budget would be full again if nothing more was spent.
  private var fullAt: UInt64 = 0

  /// - Parameters:
  ///   - burst: connects at once, at least 1. interval: until one more may be made.
  init(burst: Int, interval: Duration) {
    self.interval = interval.clampedNanoseconds
    tolerance = UInt64(max(burst, 1) - 1) * self.interval
  }

  /// Until the next connect may be made.
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
