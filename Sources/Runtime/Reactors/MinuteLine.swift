/// Lets one line into the log each minute, and counts what it stands for.
///
/// Values in, values out: the clock is the caller's, monotonic, in nanoseconds.
package struct MinuteLine: Sendable {
  private static let interval: UInt64 = 60_000_000_000

  private var loggedAt: UInt64?
  private var unlogged = 0

  /// Nothing has happened yet.
  package init() {}

  /// It has happened once more.
  ///
  /// - Returns: how often since the last line, with this time; nil while that line is young.
  package mutating func note(now: UInt64) -> Int? {
    unlogged += 1
    if let loggedAt, now - loggedAt < Self.interval { return nil }
    loggedAt = now
    defer { unlogged = 0 }
    return unlogged
  }
}
