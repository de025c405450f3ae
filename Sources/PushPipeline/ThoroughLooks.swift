internal import Reactors

/// When a look must see everything that waits, and when new messages, which are nearly all there ever is and cost a third of
/// it, are enough.
///
/// A value: time comes in as monotonic nanoseconds.
struct ThoroughLooks {
  /// How late anything but a new message may be found while messages keep coming.
  static let interval = Duration.milliseconds(20)

  /// Between two of them that are asked for by wake-ups which brought no message: webhooks come once more for what has
  /// been found already.
  static let shortestInterval = Duration.milliseconds(2)

  private var lastAt: UInt64?

  /// Whether something else than a new message is known to wait, or may have been left by others.
  private(set) var isAskedFor = true

  /// Something else than a new message is known to wait: the next look begins with everything.
  mutating func ask() {
    isAskedFor = true
  }

  /// Whether everything is looked at, after new messages were.
  /// - Parameter isBroughtByWake: whether the look was woken, and has found no message.
  func isDue(isBroughtByWake: Bool, now: UInt64) -> Bool {
    guard !isAskedFor, let lastAt else { return true }
    return now &- lastAt >= (isBroughtByWake ? Self.shortestInterval : Self.interval).clampedNanoseconds
  }

  /// Notes that everything is looked at now.
  mutating func begin(at now: UInt64) {
    lastAt = now
    isAskedFor = false
  }
}
