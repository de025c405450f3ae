internal import Reactors
internal import Synchronization

/// Counts open connections by peer, over all reactors of a service. Holds its lock for one dictionary access.
final class ConnectionCensus: Sendable {
  enum Admission: Equatable {
    case admitted
    /// The service is full. The connection is of the reserve, for one request.
    case reserved
    /// The service and its reserve are full.
    case full
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

  /// Counts a new connection if there is room for it.
  /// - Parameter peer: nil for a peer without a limit.
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

  /// An admitted connection has closed.
  func leave(_ peer: IPAddress?, _ admission: Admission) {
    counts.withLock { counts in
      if admission == .reserved { counts.reserved -= 1 } else { counts.admitted -= 1 }
      Self.leave(peer, &counts)
    }
  }

  /// Counts a request from a proxy.
  /// - Returns: whether its client may have another concurrent request.
  func begin(for client: IPAddress) -> Bool {
    counts.withLock { Self.enter(client, limits.perPeerMax, &$0) }
  }

  /// The request is answered, or its connection has closed.
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
