internal import Glibc

package enum ListenAddress: Equatable, Sendable {
  /// A TCP port on the address of a host; the host is a name, an IPv4 address, or an IPv6 address without its brackets.
  /// Port 0 lets the system choose one.
  case tcp(host: String, port: UInt16)
  /// A Unix domain socket at an absolute path.
  case unix(path: String)

  /// The longest path of a socket: `sun_path` has 108 bytes, one of them for the end (unix(7)).
  static let pathBytesMax = 107

  private static let expectation = "host:port, [v6]:port or unix:/path"

  init(parsing text: String) throws(UnusableValue) {
    if text.hasPrefix("unix:") {
      self = try Self.unixSocket(text.dropFirst(5))
    } else if text.hasPrefix("[") {
      self = try Self.bracketed(text.dropFirst())
    } else {
      self = try Self.named(text)
    }
  }

  private static func unixSocket(_ path: Substring) throws(UnusableValue) -> ListenAddress {
    guard path.hasPrefix("/") else { throw UnusableValue("the path is not absolute", expected: expectation) }
    guard path.utf8.count <= pathBytesMax else {
      throw UnusableValue("the path is too long", expected: "unix:/path with at most \(pathBytesMax) bytes")
    }
    return .unix(path: String(path))
  }

  private static func bracketed(_ text: Substring) throws(UnusableValue) -> ListenAddress {
    guard let end = text.firstIndex(of: "]"), text[end...].hasPrefix("]:") else {
      throw UnusableValue("no port after the bracket", expected: expectation)
    }
    let host = String(text[..<end])
    var address = in6_addr()
    guard inet_pton(AF_INET6, host, &address) == 1 else {
      throw UnusableValue("no IPv6 address between the brackets", expected: expectation)
    }
    return .tcp(host: host, port: try port(text[end...].dropFirst(2)))
  }

  private static func named(_ text: String) throws(UnusableValue) -> ListenAddress {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      let fault = parts.count == 1 ? "no port" : "an IPv6 address goes into brackets"
      throw UnusableValue(fault, expected: expectation)
    }
    guard NetworkHost.isName(parts[0]) else { throw UnusableValue("no host", expected: expectation) }
    return .tcp(host: String(parts[0]), port: try port(parts[1]))
  }

  private static func port(_ text: Substring) throws(UnusableValue) -> UInt16 {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text) else {
      throw UnusableValue("no port", expected: expectation + " with a port from 0 to 65535")
    }
    return port
  }
}

extension SettingParser<ListenAddress> {
  static var listenAddress: Self { Self { text throws(UnusableValue) in try ListenAddress(parsing: text) } }
}

/// The names that hosts can have.
enum NetworkHost {
  /// Whether a text is a host name or an IPv4 address: letters, digits, hyphens, underscores and dots (RFC 1123 §2.1,
  /// and the underscore that container networks use).
  static func isName(_ text: some StringProtocol) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
