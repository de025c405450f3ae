internal import HTTPServing
internal import Reactors

/// What is remembered of peers that failed to prove who they are: how often they may try again, and what the log was told.
///
/// A token bucket for each peer. A failure takes a token; without one the peer is turned away before its request is read
/// any further. The table is two generations: when the younger is full it becomes the older, and that one is forgotten.
/// So it is bounded whatever the number of peers, without a search; whoever is forgotten begins with a full bucket.
///
/// Values in, values out: the clock is the caller's, monotonic, in nanoseconds.
struct FailureBooks<Peer: Hashable & Sendable>: Sendable {
  struct Limits: Sendable {
    /// Failures in a row. 10: a person who tries out a new secret does not meet it, and a guesser learns nothing in ten.
    var burst = 10
    /// A further one each. 6 s: ten a minute, so a guesser has 14 400 a day.
    var refillNanoseconds: UInt64 = 6_000_000_000
    /// Peers of a generation. 4096: half a megabyte for both.
    var peersMax = 4096
  }

  private struct Account {
    /// The moment at which the bucket is full again.
    var fullAt: UInt64 = 0
    var line = MinuteLine()
  }

  private let limits: Limits
  private var younger: [Peer: Account] = [:]
  private var older: [Peer: Account] = [:]

  init(_ limits: Limits = Limits()) { self.limits = limits }

  /// How many peers are remembered.
  var count: Int { younger.count + older.count }

  /// How long a peer has to wait before it is listened to again; nil when it may try now.
  func wait(_ peer: Peer, now: UInt64) -> Duration? {
    guard let account = younger[peer] ?? older[peer], account.fullAt > now else { return nil }
    // The bucket holds a token when no more than the others are missing.
    let missing = account.fullAt - now
    let allowed = UInt64(limits.burst - 1) * limits.refillNanoseconds
    return missing > allowed ? .nanoseconds(Int64(missing - allowed)) : nil
  }

  /// Notes a failure.
  ///
  /// - Returns: how many failures the log should tell of, with this one; nil while the last line is young.
  mutating func fail(_ peer: Peer, now: UInt64) -> Int? {
    var account = younger[peer] ?? older[peer] ?? Account()
    let emptyAt = now + UInt64(limits.burst) * limits.refillNanoseconds
    account.fullAt = min(max(account.fullAt, now) + limits.refillNanoseconds, emptyAt)
    let told = account.line.note(now: now)
    remember(account, of: peer)
    return told
  }

  private mutating func remember(_ account: Account, of peer: Peer) {
    if younger[peer] == nil, younger.count >= limits.peersMax {
      older = younger
      younger = [:]
    }
    older[peer] = nil
    younger[peer] = account
  }
}
