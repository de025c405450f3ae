internal import ArgumentParser
package import Logging
package import Reactors

/// `127.0.0.1:2197` or `[::1]:2197`.
package struct ListenAddress: ExpressibleByArgument, CustomStringConvertible {
  package let address: SocketAddress

  package var description: String { address.description }

  /// A default with a numeric host.
  package init(_ host: String, _ port: UInt16) {
    guard let address = SocketAddress(numericHost: host, port: port) else {
      preconditionFailure("\(host) is no numeric address")
    }
    self.address = address
  }

  /// Nil for a host name, and without a port.
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

/// The log of a simulator's command on standard error. Standard output is for its addresses.
package enum SimulatorLog {
  /// Starts the log at this level. Call it once, before the first logger is made.
  package static func begin(at level: Logger.Level) {
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }

  /// The level of an option.
  /// - Throws: `ValidationError` for any other name.
  package static func level(named name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level") }
    return level
  }
}
