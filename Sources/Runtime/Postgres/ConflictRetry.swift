internal import Reactors

/// How often a statement is run again that the server rolled back because of somebody else's, and after which waits.
///
/// Waits are drawn evenly from `0 ..< base · 2^n`, so that two that met do not meet again. A statement on its own is a
/// whole transaction, and the server has said that nothing of it remains: running it again is what the manual asks for
/// (section 13.5, "Serialization Failure Handling").
struct ConflictRetry {
  /// More than a handful of conflicts in a row mean a load that more attempts only add to.
  static let retriesMax = 4

  /// About what a small statement takes; the last wait is below 40 ms.
  static let base: Duration = .milliseconds(5)

  private(set) var retries = 0

  /// Draws the wait before the next attempt.
  /// - Returns: nil when the statement should not be run again.
  mutating func wait(
    after error: PostgresError, using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    // Not the whole class 40: after 40003 nobody knows whether the statement took effect.
    guard error.code == .server, error.sqlState == .serializationFailure || error.sqlState == .deadlockDetected,
      retries < Self.retriesMax
    else { return nil }
    let ceiling = Self.base * (1 << retries)
    retries += 1
    return .nanoseconds(ceiling.clampedNanoseconds.multipliedFullWidth(by: generator.next()).high)
  }
}
