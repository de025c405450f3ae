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
