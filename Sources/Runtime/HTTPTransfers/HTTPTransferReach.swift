internal import Reactors

/// Where a client may connect to.
///
/// Judged by the address of each new connection, not by the name: a name may resolve to anything, and to something else next time.
package struct HTTPTransferReach: Sendable, Equatable {
  /// Whether addresses that are not on the public internet are reached: `IPAddress.isPublic`.
  package var includesPrivateAddresses: Bool

  /// Whether `http` is used elsewhere than on this machine.
  package var includesPlainHTTP: Bool

  package init(includesPrivateAddresses: Bool = true, includesPlainHTTP: Bool = true) {
    self.includesPrivateAddresses = includesPrivateAddresses
    self.includesPlainHTTP = includesPlainHTTP
  }

  var isUnlimited: Bool { includesPrivateAddresses && includesPlainHTTP }

  /// Whether a connection may be made.
  /// - Parameter isPlain: whether it is without TLS.
  func allows(_ address: IPAddress, isPlain: Bool) -> Bool {
    (includesPrivateAddresses || address.isPublic) && (includesPlainHTTP || !isPlain || address.isLoopback)
  }
}
