internal import Reactors

/// When a look that the database refuses is tried again: in growing steps with jitter, so that a host's function that fails for
/// every row does not keep the machine and the server's log busy.
///
/// A value: time comes in as monotonic nanoseconds.
struct FailingLooks {
  /// Looks that fail for any reason before each piece of work is looked at alone.
  static let triesTogether = 3

  /// The first wait and the longest one.
  static let shortest = Duration.milliseconds(100)
  static let longest = Duration.seconds(60)

  /// The longest wait when a wake-up comes meanwhile.
  static let longestWoken = Duration.seconds(5)

  private(set) var count = 0

  /// When the first of them failed; nil after a success.
  private(set) var since: UInt64?

  private var lastAt: UInt64 = 0
  private var wait: UInt64 = 0

  /// A look failed.
  /// - Parameter draw: in `0 ..< 1`; a wait is between half of its step and all of it.
  mutating func failed(now: UInt64, draw: Double) {
    let step = min(Self.shortest.clampedNanoseconds << min(count, 10), Self.longest.clampedNanoseconds)
    wait = step / 2 + UInt64(Double(step / 2) * draw)
    lastAt = now
    since = since ?? now
    count += 1
  }

  mutating func succeeded() { self = FailingLooks() }

  /// Another look shows that the cause is gone: the next one need not wait.
  mutating func retryNow() { wait = 0 }

  func isPutOff(isWoken: Bool, now: UInt64) -> Bool {
    guard since != nil else { return false }
    return now &- lastAt < (isWoken ? min(wait, Self.longestWoken.clampedNanoseconds) : wait)
  }
}
