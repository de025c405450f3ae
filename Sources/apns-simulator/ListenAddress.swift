import ArgumentParser
import Reactors

/// `127.0.0.1:2197` or `[::1]:2197`.
struct ListenAddress: ExpressibleByArgument, CustomStringConvertible {
  let address: SocketAddress

  var description: String { address.description }

  /// A default; `host` is a numeric constant.
  init(_ host: String, _ port: UInt16) {
    guard let address = SocketAddress(numericHost: host, port: port) else {
      preconditionFailure("\(host) is no numeric address")
    }
    self.address = address
  }

  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard let address = SocketAddress(numericHost: String(host), port: port) else { return nil }
    self.address = address
  }
}
