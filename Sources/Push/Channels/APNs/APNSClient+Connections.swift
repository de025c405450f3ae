internal import Logging
package import PushRules
package import Reactors

// The connections: opened ahead of need, examined by operators and readiness checks, and closed.
extension APNSClient {
  /// A context that trusts the system's authorities, and those of a file of certificates if one is given.
  /// - Throws: `TLSError` when the file cannot be read or holds no certificate.
  package static func makeContext(certificatesFile: String?) throws(TLSError) -> TLSContext {
    try TLSContext(trusting: certificatesFile.map { .systemAnd(.file($0)) } ?? .system, protocols: ["h2"])
  }

  /// Opens a connection to an environment ahead of the first push, and keeps it open.
  package func warmUp(_ environment: APNSEnvironment, on reactor: isolated Reactor) {
    pools[environment]?.warmUp(on: reactor)
  }

  /// Whether a connection to the environment is open and answers.
  package func isConnected(to environment: APNSEnvironment) -> Bool {
    (pools[environment]?.usableLinks ?? 0) > 0
  }

  /// Whether pushes can go: a connection is open, or APNs closed it as idle and the next push opens another.
  package func isReady(for environment: APNSEnvironment) -> Bool {
    pools[environment]?.isReady ?? false
  }

  /// Why pushes cannot reach the environment, or why it refuses all of them, in a sentence for an operator; nil
  /// without a known fault.
  package func failure(of environment: APNSEnvironment) -> String? {
    pools[environment]?.failure
  }

  /// Connections that are open to the environment and answer, without draining ones.
  package func connections(to environment: APNSEnvironment) -> Int {
    pools[environment]?.usableLinks ?? 0
  }

  package func connectionsOpened(to environment: APNSEnvironment) -> Int {
    pools[environment]?.connectionsOpened ?? 0
  }

  /// Pushes on a connection to the environment, and pushes that wait for a free stream there.
  package func pushes(to environment: APNSEnvironment) -> (inFlight: Int, waiting: Int) {
    guard let pool = pools[environment] else { return (0, 0) }
    return (pool.links.reduce(0) { $0 + $1.inFlight }, pool.queue.count)
  }

  /// Closes every connection after its last answer.
  package func close(on reactor: isolated Reactor) {
    for pool in pools.values { pool.close(on: reactor) }
  }
}

// What follows an attempt that APNs did not accept.
extension APNSClient {
  /// Does what the attempt asks for; whether the push can go again at once.
  func mayResend(
    _ attempt: PushAttempt, over link: APNSLink, of pool: APNSConnections, on reactor: isolated Reactor
  ) -> Bool {
    if case .failed(.notProcessed) = attempt { return true }
    switch attempt.disposition {
    case .refreshProviderToken:
      return replaceToken(over: link, of: pool, on: reactor)
    case .reconnect:
      pool.replace(link, on: reactor)
      return true
    default:
      return false
    }
  }

  /// APNs keeps refusing a connection on which it has seen an expired token, so the connection is replaced too.
  private func replaceToken(over link: APNSLink, of pool: APNSConnections, on reactor: isolated Reactor) -> Bool {
    do {
      guard try tokens.replace(link.token.token) else { return false }
      pool.replace(link, on: reactor)
      return true
    } catch {
      logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
      return false
    }
  }
}
