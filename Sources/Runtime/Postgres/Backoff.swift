internal import Reactors

/// Growing waits between attempts, with full jitter so that many clients do not return in step.
///
/// A wait is drawn evenly from `0 ..< min(cap, base · 2^n)`, where `n` is the number of attempts since the last success. Source:
/// AWS Architecture Blog, "Exponential Backoff And Jitter".
struct Backoff {
  /// The ceiling of the first wait. A server that restarts cleanly is back in about this time.
  static let base: Duration = .milliseconds(50)

  /// The ceiling of all waits: the latest that the return of a server is noticed.
  static let cap: Duration = .seconds(5)

  /// The ceiling of all waits of the one session that other sessions wait for.
  static let eagerCap: Duration = .milliseconds(500)

  private let cap: Duration
  private var attempts = 0

  init(cap: Duration = Backoff.cap) { self.cap = cap }

  /// The largest wait that could be drawn now.
  var ceiling: Duration { min(cap, Backoff.base * (1 << min(attempts, 16))) }

  /// Draws a wait and counts the attempt.
  mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { attempts += 1 }
    return ceiling.jittered(using: &generator)
  }

  /// The attempt succeeded; the next wait is short again.
  mutating func reset() {
    attempts = 0
  }
}

/// Retries of a statement that the server rolled back because of a conflict with another one, as the manual asks for (section
/// 13.5, "Serialization Failure Handling"). A single statement is a whole transaction, so nothing of it remains.
///
/// Waits are drawn evenly from `0 ..< base · 2^n`, so that the same two statements do not meet again.
struct ConflictRetry {
  /// More conflicts in a row mean a load that further attempts only increase.
  static let retriesMax = 4

  /// About the time of a small statement. The last wait is below 40 ms.
  static let base: Duration = .milliseconds(5)

  private(set) var retries = 0

  /// Draws the wait before the next attempt.
  /// - Returns: nil if the statement should not run again.
  mutating func wait(
    after error: PostgresError, using generator: inout some RandomNumberGenerator
  ) -> Duration? {
    // Not the whole class 40: after 40003 the statement may have taken effect.
    guard error.code == .server, error.sqlState == .serializationFailure || error.sqlState == .deadlockDetected,
      retries < Self.retriesMax
    else { return nil }
    let ceiling = Self.base * (1 << retries)
    retries += 1
    return ceiling.jittered(using: &generator)
  }
}

extension Duration {
  /// A time drawn evenly from zero to this one. One random word is a fraction of 2^64; `random(in:)` may draw more.
  fileprivate func jittered(using generator: inout some RandomNumberGenerator) -> Duration {
    .nanoseconds(clampedNanoseconds.multipliedFullWidth(by: generator.next()).high)
  }
}
