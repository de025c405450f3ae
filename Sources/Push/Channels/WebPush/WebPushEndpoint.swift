internal import Reactors

/// The URL at a push service that a browser made for one subscription.
///
/// It comes from a user and the service sends requests to it, so only what browsers make is accepted: `https`, a host of the
/// operator's list, and a path in visible ASCII. Whether the host's address may be connected to is judged at each connection.
package struct WebPushEndpoint: Hashable, Sendable {
  /// The longest endpoint, in bytes. Browsers make up to about 800.
  package static let bytesMax = 1024

  /// The URL, with the scheme and the host in lower case and without the standard port.
  package let url: String

  /// Scheme, host and any other port than 443, without a slash at the end (RFC 6454 section 6.2). The `aud` of VAPID tokens.
  package let origin: String

  /// The host in lower case, without its port.
  package let host: String

  /// Whether the host is a numeric address, which only the operator's list can allow.
  let isNumeric: Bool

  /// The name of the route, for logs, metrics and circuit breakers: `web_push/fcm.googleapis.com`; one of
  /// ``WebPushHosts/routeNames``.
  package let routeName: String

  /// Whether its service delays pushes with a topic: FCM delivers 20 at once, and then one in three minutes.
  var delaysTopics: Bool { ["fcm.googleapis.com", "jmt17.google.com"].contains(host) }

  /// Reads an endpoint.
  /// - Parameters:
  ///   - text: as the browser's `PushSubscription.endpoint`.
  ///   - hosts: the hosts that it may have.
  /// - Throws: a code that begins with `endpoint`.
  package init(_ text: String, among hosts: WebPushHosts) throws(WebPushError) {
    guard text.utf8.count <= Self.bytesMax else {
      throw WebPushError(.endpointTooLong, "more than \(Self.bytesMax) bytes")
    }
    let parts = try EndpointParts(text)
    guard let authority = HostAndPort(parts.authority) else {
      throw WebPushError(.endpointMalformed, "the host or the port is not written as browsers do")
    }
    let port = authority.port ?? HostAndPort.standardPort
    guard let routeName = hosts.routeName(to: authority.host, port: port) else {
      throw WebPushError(.endpointHostNotAllowed, "the host and port are not in the list of push services")
    }
    self.routeName = routeName
    host = authority.host.text
    isNumeric = authority.host.isNumeric
    origin = "https://" + host + (port == HostAndPort.standardPort ? "" : ":\(port)")
    url = origin + parts.path
  }
}

/// The two parts of a URL without user information and fragment.
private struct EndpointParts {
  private static let scheme = "https://"

  let authority: Substring
  /// The path from its slash, and the query.
  let path: Substring

  init(_ text: String) throws(WebPushError) {
    guard text.utf8.allSatisfy(Self.isAllowed) else {
      throw WebPushError(.endpointMalformed, "a character that URLs do not have")
    }
    guard text.prefix(Self.scheme.count).lowercased() == Self.scheme else {
      throw WebPushError(.endpointSchemeNotAllowed, "the scheme is not https")
    }
    if text.utf8.contains(UInt8(ascii: "#")) { throw WebPushError(.endpointHasFragment, "a fragment") }
    let rest = text.dropFirst(Self.scheme.count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    (authority, path) = (rest[..<end], rest[end...])
    if authority.contains("@") { throw WebPushError(.endpointHasUserInformation, "a user or a password") }
    guard path.utf8.count > 1, path.hasPrefix("/") else {
      throw WebPushError(.endpointMalformed, "no path, which names the subscription")
    }
    guard Self.hasWholeEscapes(path), !Self.hasDotSegments(path) else {
      throw WebPushError(.endpointMalformed, "a broken escape, an escaped control character or a dot segment")
    }
  }

  /// Visible ASCII, except for what no part of a URL may hold (RFC 3986 section 2). A backslash is read as a slash by browsers.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    guard (0x21...0x7E).contains(byte) else { return false }
    return !#""<>\^`{|}"#.utf8.contains(byte)
  }

  private static func hasWholeEscapes(_ path: Substring) -> Bool {
    path.split(omittingEmptySubsequences: false) { $0 == "%" }.dropFirst().allSatisfy { part in
      // `UInt8` would accept a sign before the digits.
      guard part.prefix(2).allSatisfy(\.isHexDigit), part.count >= 2, let value = UInt8(part.prefix(2), radix: 16)
      else { return false }
      return value >= 0x20 && value != 0x7F
    }
  }

  /// Clients and servers remove such segments, and not all in the same way.
  private static func hasDotSegments(_ path: Substring) -> Bool {
    let segments = path.prefix { $0 != "?" }.lowercased().split { $0 == "/" }
    return segments.contains { [".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"].contains($0) }
  }
}

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

/// Why a value cannot be part of a push to a browser. Thrown before anything is sent.
package struct WebPushError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case endpointTooLong
    /// The endpoint's scheme is not `https`.
    case endpointSchemeNotAllowed
    case endpointMalformed
    case endpointHasUserInformation
    case endpointHasFragment
    /// The host and port are not among those that the operator allows.
    case endpointHostNotAllowed
    /// A host of the operator's list is malformed.
    case hostPatternMalformed
    /// `p256dh` is not base64url, or not a point on the curve P-256.
    case publicKeyMalformed
    /// `auth` is not base64url of 16 bytes.
    case authenticationSecretMalformed
    /// The contact is not a `mailto:` or `https:` address that push services accept.
    case subjectMalformed
    /// The template of links is no URL.
    case linkMalformed
    /// A notification has no title, or no link to open.
    case notificationIncomplete
    /// The content is too large, even without its text.
    case payloadTooLarge
  }

  package let code: Code
  /// The fault and the limit, for an engineer. Quotes nothing that a user sent.
  package let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}
