internal import FoundationEssentials

/// A server that is spoken to over TLS: its host and port.
package struct ServiceOrigin: Equatable, Sendable {
  /// A name or an address, IPv6 without brackets; also what the certificate must be for.
  package let host: String
  /// The port, 443 unless the address says otherwise.
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  private static let expectation = "https://host or https://host:port"

  /// Reads `https://host[:port]`; a path, a user or a query would be lost without a word and is refused.
  init(parsing text: String) throws(UnusableValue) {
    guard let parts = URLComponents(string: text, encodingInvalidCharacters: false), let host = parts.host,
      !host.isEmpty
    else {
      throw UnusableValue("not a URL", expected: Self.expectation)
    }
    guard parts.scheme?.lowercased() == "https" else { throw UnusableValue("not https", expected: Self.expectation) }
    guard parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil, parts.user == nil else {
      throw UnusableValue("more than a host and a port", expected: Self.expectation)
    }
    guard let port = UInt16(exactly: parts.port ?? 443), port > 0 else {
      throw UnusableValue("no such port", expected: Self.expectation)
    }
    self.init(host: String(host.trimmingPrefix("[").prefix { $0 != "]" }), port: port)
  }
}

extension SettingParser<ServiceOrigin> {
  static var origin: Self { Self { text throws(UnusableValue) in try ServiceOrigin(parsing: text) } }
}
