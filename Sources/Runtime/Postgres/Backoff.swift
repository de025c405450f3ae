internal import Reactors

/// Growing waits between attempts, with full jitter so that many clients do not return in step.
///
/// A wait is drawn evenly from `0 ..< min(cap, base · 2^n)`, `n` counting the attempts since the last success. Source:
/// AWS Architecture Blog, "Exponential Backoff And Jitter".
struct Backoff {
  /// The ceiling of the first wait: a server that restarts cleanly is back in about that time.
  static let base: Duration = .milliseconds(50)

  /// The ceiling of all waits: how late we may notice that a server is back.
  static let cap: Duration = .seconds(5)

  /// The ceiling of the waits of one session for which others wait.
  static let eagerCap: Duration = .milliseconds(500)

  private let cap: Duration
  private var attempts = 0

  init(cap: Duration = Backoff.cap) { self.cap = cap }

  /// The largest wait that could be drawn now.
  var ceiling: Duration { min(cap, Backoff.base * (1 << min(attempts, 16))) }

  /// Draws a wait and counts the attempt.
  mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { attempts += 1 }
    // The random word read as a fraction of 2^64: one draw, whatever generator; `random(in:)` may ask for more.
    return .nanoseconds(ceiling.clampedNanoseconds.multipliedFullWidth(by: generator.next()).high)
  }

  /// The attempt succeeded; the next wait is short again.
  mutating func reset() {
    attempts = 0
  }
}

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
