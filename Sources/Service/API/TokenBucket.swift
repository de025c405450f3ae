/// How often something may happen: so often at once, and once more each time the bucket gets a token.
///
/// The clock is the caller's, monotonic, in nanoseconds.
struct TokenBucket: Sendable {
  struct Rate: Sendable {
    /// Tokens of a full bucket.
    var burst: Int
    /// Until a token is there again.
    var refillNanoseconds: UInt64
  }

  /// The moment at which the bucket is full again.
  private var fullAt: UInt64 = 0

  /// How long until so many tokens are there; nil when they are.
  /// - Parameter count: at most the burst.
  func wait(for count: Int, _ rate: Rate, now: UInt64) -> Duration? {
    guard fullAt > now else { return nil }
    // The tokens are there when no more than the others are missing.
    let missing = fullAt - now
    let allowed = UInt64(rate.burst - count) * rate.refillNanoseconds
    return missing > allowed ? .nanoseconds(Int64(missing - allowed)) : nil
  }

  /// Takes tokens; an empty bucket stays empty.
  mutating func take(_ count: Int, _ rate: Rate, now: UInt64) {
    let emptyAt = now + UInt64(rate.burst) * rate.refillNanoseconds
    fullAt = min(max(fullAt, now) + UInt64(count) * rate.refillNanoseconds, emptyAt)
  }
}
