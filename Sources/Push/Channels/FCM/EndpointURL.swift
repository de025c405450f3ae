internal import Reactors

/// An absolute URL that requests with credentials may go to: `https`, or `http` on this machine for tests.
///
/// Only the scheme and the host are judged. The transfer client parses the rest.
struct EndpointURL: Equatable, Sendable {
  /// Longer than any real endpoint, in bytes.
  private static let bytesMax = 2048

  let text: String

  /// - Returns: nil for another scheme, for plain HTTP to another machine, for user and password, and for white space,
  ///   control characters and characters outside ASCII.
  init?(_ text: String) {
    guard text.utf8.count <= Self.bytesMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    guard let scheme = text.firstRange(of: "://") else { return nil }
    let authority = text[scheme.upperBound...].prefix { !"/?#\\".contains($0) }
    guard !authority.isEmpty, !authority.contains("@") else { return nil }
    switch text[..<scheme.lowerBound].lowercased() {
    case "https": break
    case "http": guard Self.isLoopback(authority) else { return nil }
    default: return nil
    }
    self.text = text
  }

  private static func isLoopback(_ authority: Substring) -> Bool {
    if authority.hasPrefix("[") {
      return IPAddress(String(authority.dropFirst().prefix { $0 != "]" }))?.isLoopback ?? false
    }
    let host = String(authority.prefix { $0 != ":" })
    return host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? false
  }
}
