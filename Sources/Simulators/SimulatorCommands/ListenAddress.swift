internal import ArgumentParser
package import Reactors

/// `127.0.0.1:2197` or `[::1]:2197`.
package struct ListenAddress: ExpressibleByArgument, CustomStringConvertible {
  /// What the text stands for.
  package let address: SocketAddress

  /// As it is written.
  package var description: String { address.description }

  /// A default; `host` is a numeric constant.
  package init(_ host: String, _ port: UInt16) {
    guard let address = SocketAddress(numericHost: host, port: port) else {
      preconditionFailure("\(host) is no numeric address")
    }
    self.address = address
  }

  /// Nil for a name, and without a port.
  package init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard let address = SocketAddress(numericHost: String(host), port: port) else { return nil }
    self.address = address
  }
}
