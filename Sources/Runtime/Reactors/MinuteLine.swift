/// Limits a repeated log line to one a minute, and counts the events of each line.
package struct MinuteLine: Sendable {
  private static let interval: UInt64 = 60_000_000_000

  private var loggedAt: UInt64?
  private var unlogged = 0

  package init() {}

  /// Counts an event.
  /// - Parameter now: monotonic nanoseconds.
  /// - Returns: the events since the last line, this one included, if a line is due; otherwise nil.
  package mutating func note(now: UInt64) -> Int? {
    unlogged += 1
    if let loggedAt, now - loggedAt < Self.interval { return nil }
    loggedAt = now
    defer { unlogged = 0 }
    return unlogged
  }
}
