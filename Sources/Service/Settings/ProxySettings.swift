public import Reactors

/// Who may say whom a request comes from.
public struct ProxySettings: Equatable, Sendable {
  /// Where a proxy says it.
  public enum Header: String, CaseIterable, Sendable {
    /// `X-Forwarded-For`
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded` (RFC 7239)
    case forwarded
  }

  /// The word for everybody who connects over a Unix socket.
  private static let unixWord = "unix"

  /// The addresses of proxies; nobody unless set.
  public let networks: [IPNetwork]
  /// Whether everybody who connects over a Unix socket is one.
  public let includesUnixSockets: Bool
  /// The field that they append to.
  public let header: Header

  init(_ reader: inout SettingsReader) {
    let names = reader.optional(.trustedProxies, Self.names) ?? []
    networks = names.compactMap { IPNetwork($0) }
    includesUnixSockets = names.contains(Self.unixWord)
    header =
      reader.optional(.trustedProxyHeader) { text throws(UnusableValue) in try SettingNumbers.choice(text) }
      ?? .xForwardedFor
  }

  /// Everybody who is trusted, as words.
  var trusted: [String] { networks.map(\.description) + (includesUnixSockets ? [Self.unixWord] : []) }

  private static func names(_ text: String) throws(UnusableValue) -> [String] {
    let names = text.split { $0 == " " || $0 == "," }.map(String.init)
    guard !names.isEmpty, names.allSatisfy({ $0 == unixWord || IPNetwork($0) != nil }) else {
      throw UnusableValue(
        "not all addresses or networks",
        expected: "addresses, networks such as 10.0.0.0/8, or unix, separated by spaces")
    }
    return names
  }
}
