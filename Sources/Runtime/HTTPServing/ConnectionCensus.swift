internal import Reactors
internal import Synchronization

/// Counts what peers keep open, over all reactors of a service. The lock is held for a look into a dictionary.
final class ConnectionCensus: Sendable {
  /// What becomes of a new connection.
  enum Admission: Equatable {
    /// It is served.
    case admitted
    /// The service is full: one request is looked at.
    case reserved
    /// Even the reserve is full.
    case full
    /// Its peer has as many as it may have.
    case peerFull
  }

  private struct Counts {
    var admitted = 0
    var reserved = 0
    var byPeer: [IPNetwork: Int] = [:]
  }

  private let limits: ConnectionLimits
  private let counts = Mutex(Counts())

  init(_ limits: ConnectionLimits) { self.limits = limits }

  /// Counts a new connection, if there is room for it.
  ///
  /// - Parameter peer: nil for one that may have any number.
  func admit(_ peer: IPAddress?) -> Admission {
    counts.withLock { counts in
      guard counts.admitted < limits.totalMax || counts.reserved < limits.reserveMax else { return .full }
      guard Self.enter(peer, limits.perPeerMax, &counts) else { return .peerFull }
      if counts.admitted < limits.totalMax {
        counts.admitted += 1
        return .admitted
      }
      counts.reserved += 1
      return .reserved
    }
  }

  /// A connection that was admitted has closed.
  func leave(_ peer: IPAddress?, _ admission: Admission) {
    counts.withLock { counts in
      if admission == .reserved { counts.reserved -= 1 } else { counts.admitted -= 1 }
      Self.leave(peer, &counts)
    }
  }

  /// Counts a request that a proxy has passed on.
  ///
  /// - Returns: whether its client may have one more in progress.
  func begin(for client: IPAddress) -> Bool {
    counts.withLock { Self.enter(client, limits.perPeerMax, &$0) }
  }

  /// The request is answered, or its connection is gone.
  func end(for client: IPAddress) {
    counts.withLock { Self.leave(client, &$0) }
  }

  private static func enter(_ peer: IPAddress?, _ limit: Int, _ counts: inout Counts) -> Bool {
    guard let peer else { return true }
    let network = IPNetwork(ofHost: peer)
    let count = counts.byPeer[network, default: 0]
    guard count < limit else { return false }
    counts.byPeer[network] = count + 1
    return true
  }

  private static func leave(_ peer: IPAddress?, _ counts: inout Counts) {
    guard let peer else { return }
    let network = IPNetwork(ofHost: peer)
    let count = counts.byPeer[network, default: 1] - 1
    counts.byPeer[network] = count == 0 ? nil : count
  }
}
