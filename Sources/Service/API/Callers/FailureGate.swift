package import HTTP1
internal import HTTPTypes
package import Logging
package import Reactors
internal import Synchronization

/// Counts and logs peers that fail to prove who they are, and limits how often they may try; for all reactors. Each kind of
/// proof has a separate gate, so that a misconfigured webhook does not hide a guessed log-in.
///
/// It is asked after the proof has failed, never before: a right secret passes however many wrong ones came before it from
/// the same address. An IPv6 peer is its /64, the least that one host is given. Callers over a Unix socket are processes of
/// this machine: they never have to wait, and the log counts all of them together.
package final class FailureGate: Sendable {
  private let books = Mutex(FailureBooks<IPNetwork?>())
  private let proof: String
  private let logger: Logger

  /// - Parameter proof: what a caller must show, for the log, such as `webhook secret`.
  package init(for proof: String, logger: Logger) {
    self.proof = proof
    self.logger = logger
  }

  /// Counts a request without a valid proof. The log gets a line for each peer and minute, and nothing of what was sent.
  ///
  /// - Returns: 429 with `Retry-After` for a peer that has failed more often than it may; nil for any other.
  package func recordFailure(of client: IPAddress?) -> ProblemDetails? {
    let peer = client.map(IPNetwork.init(ofHost:))
    let (wait, count) = books.withLock { $0.fail(peer, now: Reactor.now) }
    if let count {
      let name = client?.description ?? "unix"
      logger.warning("no valid proof", metadata: ["proof": "\(proof)", "peer": "\(name)", "count": "\(count)"])
    }
    guard let wait, client != nil else { return nil }
    return ProblemDetails(
      .tooManyRequests, detail: "Too many requests from this address had no valid \(proof).",
      fields: [.retryAfter: "\(wait.wholeSeconds)"])
  }
}

/// What is remembered of peers that failed to prove who they are: a token bucket, and when the log last had a line.
///
/// A failure takes a token; without one it is answered 429 instead of 401.
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

  var count: Int { accounts.count }

  /// Counts a failure.
  ///
  /// - Returns: how long the peer has to wait, nil while it has tokens; and how many failures the next line of the log counts,
  ///   with this one, nil while the last line is less than a minute old.
  mutating func fail(_ peer: Peer, now: UInt64) -> (wait: Duration?, told: Int?) {
    var account = accounts[peer] ?? Account()
    let wait = account.bucket.wait(for: 1, limits.rate, now: now)
    account.bucket.take(1, limits.rate, now: now)
    let told = account.line.note(now: now)
    accounts.remember(account, of: peer)
    return (wait, told)
  }
}
