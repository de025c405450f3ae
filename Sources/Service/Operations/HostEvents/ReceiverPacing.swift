/// How many events may be under way, so that a receiver that is down is asked by few.
///
/// After three failures in a row one event at a time is tried, after a pause that doubles from a second to a minute. The first
/// success lifts both. Without this each waiting event would fail and be put off, and the receiver would hear of all at once.
struct ReceiverPacing {
  private static let failuresMax = 3
  private static let pauseMax: UInt64 = 60_000_000_000

  let places: Int
  private(set) var failures = 0
  private var pausedUntil: UInt64 = 0

  init(places: Int) {
    self.places = places
  }

  /// Whether the receiver seems to be down.
  var isSuspicious: Bool { failures >= Self.failuresMax }

  /// Events that may begin now.
  /// - Parameters:
  ///   - underWay: events that have begun. now: monotonic nanoseconds.
  func free(underWay: Int, now: UInt64) -> Int {
    guard isSuspicious else { return max(0, places - underWay) }
    return underWay == 0 && now >= pausedUntil ? 1 : 0
  }

  mutating func succeeded() { (failures, pausedUntil) = (0, 0) }

  mutating func failed(now: UInt64) {
    failures += 1
    guard isSuspicious else { return }
    pausedUntil = now + min(Self.pauseMax, 1_000_000_000 << UInt64(min(failures - Self.failuresMax, 6)))
  }
}
