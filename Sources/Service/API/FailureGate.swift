public import HTTPServing
internal import HTTPTypes
public import Logging
public import Reactors
internal import Synchronization

/// Counts peers that fail to prove who they are, answers them, and tells the log of them; for all reactors. Each kind of proof
/// has a gate of its own, so that a misconfigured webhook does not hide a guessed log-in.
///
/// It is asked after the proof has failed, never before: a right secret passes however many wrong ones came before it from
/// the same address. An IPv6 peer is its /64, the least that one host is given. Callers over a Unix socket are the machine's
/// own: none of them is told to wait, and the log is told of all together.
public final class FailureGate: Sendable {
  private let books = Mutex(FailureBooks<IPNetwork?>())
  private let proof: String
  private let logger: Logger

  /// Remembers nobody yet.
  /// - Parameter proof: what is to be shown here, for the log, such as `webhook secret`.
  public init(for proof: String, logger: Logger) {
    self.proof = proof
    self.logger = logger
  }

  /// A request had no valid proof. The log gets a line for each peer and minute, and nothing of what was sent.
  ///
  /// - Returns: 429 with `Retry-After` for a peer that has failed more often than it may; nil for any other.
  public func noteFailure(of client: IPAddress?) -> ProblemDetails? {
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

extension Duration {
  /// In seconds, a started one counted whole: what Retry-After takes.
  var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
