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

  /// Whether new messages are looked for first: not when something else is known to wait.
  func beginsWithMessages(after cause: WakeCause) -> Bool {
    cause != .due && cause != .start
  }

  /// Whether everything is looked at, after new messages were.
  func isDue(after cause: WakeCause, messagesFound: Int, now: UInt64) -> Bool {
    guard let lastAt else { return true }
    let isAskedFor = messagesFound == 0 && cause != .poll
    return now &- lastAt >= (isAskedFor ? Self.shortestInterval : Self.interval).clampedNanoseconds
  }

  /// Notes that everything was looked at.
  mutating func looked(at now: UInt64) {
    lastAt = now
  }
}
