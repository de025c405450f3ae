public import HTTPServing
internal import HTTPTypes
public import Logging
public import Reactors
internal import Synchronization

/// Turns away peers that fail too often to prove who they are, and tells the log of them; for all reactors.
///
/// An IPv6 peer is its /64, the least that one host is given. Callers over a Unix socket are the machine's own: nobody of
/// them is turned away, and the log is told of all together.
public final class FailureGate: Sendable {
  private let books = Mutex(FailureBooks<IPNetwork?>())
  private let logger: Logger

  /// Remembers nobody yet.
  public init(logger: Logger) { self.logger = logger }

  /// To be asked before anything of a request is verified.
  ///
  /// - Returns: what a peer is told that has to wait.
  public func refusal(of client: IPAddress?) -> ProblemDetails? {
    guard let client else { return nil }
    let wait = books.withLock { $0.wait(IPNetwork(ofHost: client), now: Reactor.now) }
    guard let wait else { return nil }
    let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
    return ProblemDetails(
      .tooManyRequests, detail: "Too many requests from this address had no valid secret or signature.",
      fields: [.retryAfter: "\(seconds)"])
  }

  /// A request had no valid proof. The log gets a line for each peer and minute, and nothing of what was sent.
  public func noteFailure(of client: IPAddress?) {
    let peer = client.map(IPNetwork.init(ofHost:))
    guard let count = books.withLock({ $0.fail(peer, now: Reactor.now) }) else { return }
    let name = client?.description ?? "unix"
    logger.warning("no valid secret or signature", metadata: ["peer": "\(name)", "count": "\(count)"])
  }
}
