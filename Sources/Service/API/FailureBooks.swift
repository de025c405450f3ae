internal import HTTPServing
internal import Reactors

/// What is remembered of peers that failed to prove who they are: how often they may try again, and what the log was told.
///
/// A token bucket for each peer. A failure takes a token; without one it is answered 429 instead of 401.
///
/// Values in, values out: the clock is the caller's, monotonic, in nanoseconds.
struct FailureBooks<Peer: Hashable & Sendable>: Sendable {
  struct Limits: Sendable {
    /// 10 failures in a row: a person who tries out a new secret does not meet it. A further one every 6 s.
    var rate = TokenBucket.Rate(burst: 10, refillNanoseconds: 6_000_000_000)
    /// Peers of a generation. 4096: half a megabyte for both.
    var peersMax = 4096
  }

  private struct Account {
    var bucket = TokenBucket()
    var line = MinuteLine()
  }

  private let limits: Limits
  private var accounts: BoundedBook<Peer, Account>

  init(_ limits: Limits = Limits()) {
    self.limits = limits
    accounts = BoundedBook(generationMax: limits.peersMax)
  }

  /// How many peers are remembered.
  var count: Int { accounts.count }

  /// Notes a failure.
  ///
  /// - Returns: how long the peer is told to wait, nil while it has tokens; and how many failures the log should tell of,
  ///   with this one, nil while the last line is young.
  mutating func fail(_ peer: Peer, now: UInt64) -> (wait: Duration?, told: Int?) {
    var account = accounts[peer] ?? Account()
    let wait = account.bucket.wait(for: 1, limits.rate, now: now)
    account.bucket.take(1, limits.rate, now: now)
    let told = account.line.note(now: now)
    accounts.remember(account, of: peer)
    return (wait, told)
  }
}
