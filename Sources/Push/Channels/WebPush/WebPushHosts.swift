internal import Reactors

/// The hosts that endpoints may have.
///
/// Endpoints come from users. Without a list, a user could make the service send requests to any server.
package struct WebPushHosts: Equatable, Sendable {
  /// The services of Chrome and its relatives, of Chromium, which some builds send elsewhere, Firefox, Safari, and Edge.
  package static let standard = WebPushHosts([
    HostPattern(unchecked: "fcm.googleapis.com"), HostPattern(unchecked: "jmt17.google.com"),
    HostPattern(unchecked: "*.push.services.mozilla.com"), HostPattern(unchecked: "*.push.apple.com"),
    HostPattern(unchecked: "*.notify.windows.com"),
  ])

  /// More than there are push services. Each endpoint is compared with all.
  private static let countMax = 64

  private let patterns: [HostPattern]

  private init(_ patterns: [HostPattern]) {
    self.patterns = patterns
  }

  /// Reads the setting `WEB_PUSH_HOSTS`: patterns separated by commas, at least one and at most 64.
  ///
  /// A pattern is a name, `*.` and a name of two labels or more for all names below it, or a numeric address. A port may follow,
  /// else it is 443: `fcm.googleapis.com`, `*.push.apple.com`, `127.0.0.1:8443`, `[::1]:8443`. Only a numeric address may be
  /// private.
  /// - Throws: `hostPatternMalformed`, with the number of the pattern.
  package init(parsing text: String) throws(WebPushError) {
    var patterns: [HostPattern] = []
    for part in text.split(separator: ",", maxSplits: Self.countMax, omittingEmptySubsequences: false) {
      guard patterns.count < Self.countMax, let pattern = HostPattern(Self.trimmed(part)) else {
        throw WebPushError(.hostPatternMalformed, "item \(patterns.count + 1) is not a host that endpoints can have")
      }
      patterns.append(pattern)
    }
    self.init(patterns)
  }

  private static func trimmed(_ part: Substring) -> Substring {
    var part = part.drop { $0 == " " }
    while part.last == " " { part.removeLast() }
    return part
  }

  /// The names of all routes, in the order of the list: `web_push/` and the name of each item, without `*.`.
  ///
  /// A route is an item of the list rather than a host, because users choose among the names below a `*.` pattern, and routes
  /// have breakers and metrics.
  package var routeNames: [String] { patterns.map(\.routeName) }

  /// The route to a host and port; nil when no endpoint may have them.
  func routeName(to host: HostName, port: UInt16) -> String? {
    patterns.first { $0.matches(host, port: port) }?.routeName
  }
}

private struct HostPattern: Equatable, Sendable {
  private let host: HostName
  private let coversNamesBelow: Bool
  private let port: UInt16

  var routeName: String { "web_push/" + host.text }

  init?(_ text: Substring) {
    coversNamesBelow = text.hasPrefix("*.")
    guard let authority = HostAndPort(text.dropFirst(coversNamesBelow ? 2 : 0)) else { return nil }
    host = authority.host
    port = authority.port ?? HostAndPort.standardPort
    // A whole top-level domain would be open to strangers.
    if coversNamesBelow, host.isNumeric || !host.text.contains(".") { return nil }
  }

  init(unchecked text: StaticString) {
    guard let pattern = HostPattern(Substring("\(text)")) else { preconditionFailure("\(text) is no pattern") }
    self = pattern
  }

  func matches(_ other: HostName, port: UInt16) -> Bool {
    guard port == self.port else { return false }
    return coversNamesBelow ? !other.isNumeric && other.text.hasSuffix("." + host.text) : other == host
  }
}

/// A host and an optional port, as in a URL (RFC 3986 section 3.2).
struct HostAndPort {
  static let standardPort: UInt16 = 443

  let host: HostName
  let port: UInt16?

  init?(_ text: Substring) {
    let hostEnd = text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":")
    guard let host = HostName(text[..<(hostEnd ?? text.endIndex)]) else { return nil }
    self.host = host
    let rest = text[(hostEnd ?? text.endIndex)...]
    guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
    port = rest.isEmpty ? nil : Self.port(rest.dropFirst())
    if !rest.isEmpty, port == nil { return nil }
  }

  /// One to five digits without a leading zero.
  private static func port(_ digits: Substring) -> UInt16? {
    guard (1...5).contains(digits.utf8.count), digits.utf8.first != UInt8(ascii: "0"),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return UInt16(digits)
  }
}

/// A DNS name in lower case, or a numeric address in its one usual form.
struct HostName: Hashable, Sendable {
  /// RFC 1035 section 2.3.4.
  private static let bytesMax = 253
  private static let labelBytesMax = 63

  /// With brackets around an IPv6 address.
  let text: String
  let isNumeric: Bool

  /// Nil for an empty label, which a trailing dot makes, for bytes outside letters, digits and hyphens, and for other forms of
  /// addresses: a resolver reads `127.1` and `0x7f000001` as 127.0.0.1.
  init?(_ text: Substring) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
    self.text = text.lowercased()
    if self.text.hasPrefix("[") {
      let inner = String(self.text.dropFirst().dropLast())
      guard self.text.hasSuffix("]"), IPAddress(inner)?.description == inner else { return nil }
      isNumeric = true
      return
    }
    let labels = self.text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ Self.isLabel($0) }), let last = labels.last?.first else { return nil }
    // No top-level domain begins with a digit.
    isNumeric = (0x30...0x39).contains(last)
    if isNumeric, IPAddress(self.text)?.description != self.text { return nil }
  }

  private static func isLabel(_ label: Substring.UTF8View) -> Bool {
    guard (1...labelBytesMax).contains(label.count) else { return false }
    let hyphen = UInt8(ascii: "-")
    guard label.first != hyphen, label.last != hyphen else { return false }
    return label.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == hyphen }
  }
}
