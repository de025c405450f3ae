/// A token bucket: limits how often something may happen, with a burst and a rate.
///
/// The clock is the caller's, monotonic, in nanoseconds.
package struct TokenBucket: Sendable {
  package struct Rate: Sendable {
    let burst: Int
    /// Until a used token is replaced.
    let refillNanoseconds: UInt64

    package init(burst: Int, refillNanoseconds: UInt64) {
      self.burst = burst
      self.refillNanoseconds = refillNanoseconds
    }
  }

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

/// A bounded dictionary of two generations: when the younger is full it becomes the older, and that one is forgotten. So the
/// bound needs no search, and entries that are used again stay.
struct BoundedBook<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
  private let generationMax: Int
  private var younger: [Key: Entry] = [:]
  private var older: [Key: Entry] = [:]

  /// - Parameter generationMax: entries of a generation.
  init(generationMax: Int) { self.generationMax = generationMax }

  var count: Int { younger.count + older.count }

  subscript(key: Key) -> Entry? { younger[key] ?? older[key] }

  mutating func remember(_ entry: Entry, of key: Key) {
    if younger[key] == nil, younger.count >= generationMax {
      older = younger
      younger = [:]
    }
    older[key] = nil
    younger[key] = entry
  }

  /// Keeps an entry that was used for another generation. Without a write where it is in the younger one.
  mutating func refresh(_ key: Key) {
    if younger[key] == nil, let entry = older[key] { remember(entry, of: key) }
  }

  mutating func forget(_ key: Key) {
    younger[key] = nil
    older[key] = nil
  }
}

extension Duration {
  /// In seconds, a started one counted whole: what Retry-After takes.
  var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
