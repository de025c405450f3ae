internal import FoundationEssentials
internal import Glibc
package import PushRules

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
    guard isHostName(parts[0]) else { throw UnusableValue("no host", expected: expectation) }
    return .tcp(host: String(parts[0]), port: try port(parts[1]))
  }

  /// Whether a text is a host name or an IPv4 address: letters, digits, hyphens, underscores and dots (RFC 1123 §2.1,
  /// and the underscore that container networks use).
  static func isHostName(_ text: some StringProtocol) -> Bool {
    (1...253).contains(text.utf8.count) && text.hasASCIILettersAndDigits(or: "-_.")
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

/// A secret that a database webhook proves itself with, as a bearer token or as the key of its signature.
package struct WebhookSecret: Equatable, Sendable {
  /// What follows `Authorization: Bearer`: the secret as it was given.
  package let bearer: Secret<String>
  /// The key of the HMAC of a Standard Webhooks signature: the decoded part of `whsec_<base64>`, or the bytes of the text.
  package let signingKey: Secret<[UInt8]>

  fileprivate init(parsing text: String) throws(UnusableValue) {
    bearer = Secret(try BearerSecret.checked(text))
    guard text.hasPrefix("whsec_") else {
      try BearerSecret.checkLength(text.utf8.count)
      signingKey = Secret(Array(text.utf8))
      return
    }
    guard let key = Data(base64Encoded: String(text.dropFirst(6))), !key.isEmpty else {
      throw UnusableValue("no base64 after whsec_", expected: "whsec_ and the key in padded base64, or a plain secret")
    }
    try BearerSecret.checkLength(key.count)
    signingKey = Secret(Array(key))
  }
}

extension SettingParser<[WebhookSecret]> {
  static var webhookSecrets: Self {
    Self { text throws(UnusableValue) in try BearerSecret.list(text, of: WebhookSecret.init) }
  }
}

extension SettingParser<[Secret<String>]> {
  static var bearerSecrets: Self {
    Self { text throws(UnusableValue) in
      try BearerSecret.list(text) { part throws(UnusableValue) in
        let secret = Secret(try BearerSecret.checked(part))
        try BearerSecret.checkLength(part.utf8.count)
        return secret
      }
    }
  }
}

/// What a bearer token must be to be sent, and not to be guessed.
enum BearerSecret {
  /// 24 bytes, 192 bits when they are random. Standard Webhooks asks for as many ("Signature scheme"), and a right secret is
  /// never turned away, so its length alone keeps it from being guessed.
  private static let bytesMin = 24

  /// Separated by white space, which no bearer token can hold; several are valid while one replaces another.
  static func list<Value>(
    _ text: String, of value: (String) throws(UnusableValue) -> Value
  ) throws(UnusableValue) -> [Value] {
    try text.split(whereSeparator: \.isWhitespace).map { part throws(UnusableValue) in try value(String(part)) }
  }

  /// The text itself, if a header field carries it unharmed and in one piece.
  static func checked(_ text: String) throws(UnusableValue) -> String {
    guard text.isVisibleASCII else {
      throw UnusableValue(
        "holds a space, a control character or a letter beyond ASCII", expected: "printable ASCII without spaces")
    }
    return text
  }

  /// - Parameter count: bytes of the secret; those that `whsec_<base64>` decodes to.
  static func checkLength(_ count: Int) throws(UnusableValue) {
    guard count >= bytesMin else {
      throw UnusableValue("too short", expected: "at least \(bytesMin) bytes, such as those of openssl rand -hex 24")
    }
  }
}

extension StringProtocol {
  var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }

  /// Whether it has nothing else, but for these characters.
  func hasASCIILettersAndDigits(or others: String) -> Bool {
    utf8.allSatisfy { byte in
      let character = Character(UnicodeScalar(byte))
      return byte < 0x80 && (character.isLetter || character.isNumber) || others.utf8.contains(byte)
    }
  }
}
