internal import HTTPTypes
package import Reactors

package struct HTTPServiceConfiguration: Equatable, Sendable {
  package var limits = HTTPLimits()
  package var timeouts = HTTPTimeouts()
  package var connections = ConnectionLimits()
  /// Proxies trusted to set the client address. None by default.
  package var proxies = TrustedProxies()
  /// Pages of other origins that may call the service. None by default.
  package var crossOrigins = CrossOrigins()
  /// The permissions of a Unix socket's file.
  /// 0660: the service's user and group, so that a proxy in the group can connect.
  package var unixSocketMode: UInt32 = 0o660

  package init() {}
}

/// Limits of a service's connections, over all its reactors, each with the reason for its default.
package struct ConnectionLimits: Equatable, Sendable {
  /// Open connections. Above, connections of the reserve answer 503 to everything except health checks.
  /// 8192: an idle connection takes about 1 KiB, so 8 MB. A connection in the middle of a request keeps a few KiB more.
  package var totalMax = 8192
  /// The reserve: further connections for one request each, so that health checks succeed while the service is full. Above, a
  /// connection gets 503 before its request.
  /// 64: health checks come a few at a time, and each stays at most ``HTTPTimeouts/reserve``.
  package var reserveMax = 64
  /// Open connections of one peer, or concurrent requests of one client of a trusted proxy. The answer to more is 429. Unix
  /// sockets and trusted proxies have no such limit. An IPv6 peer is its /64, the least that one host is given.
  /// 1024: an eighth of all connections, so that one host cannot fill the service. A database keeps a few dozen.
  package var perPeerMax = 1024
  /// Requests on one connection. The last answer closes it.
  /// 10 000: the kernel picks a connection's reactor once, so long-lived connections have to reconnect now and then. At ten
  /// times nginx's default (`keepalive_requests`), the new handshakes cannot be measured.
  package var requestsMax = 10_000
  /// Bytes of the unfinished heads, contents and answers of all requests whose caller is not yet admitted. Above, the next one
  /// that grows gets 503 and is closed.
  /// 16 MiB: five hundred of the largest heads. A request that fits one read is never refused.
  package var strangersBytesMax = 16 * 1024 * 1024
  /// The same for requests of admitted callers. At least twice the largest content.
  /// 16 MiB: eight contents of 1 MiB at once, whose buffers may be twice their size while they arrive.
  package var callersBytesMax = 16 * 1024 * 1024

  package init() {}
}

/// How long a connection waits for its peer, each with the reason for its default.
/// The service checks time-outs at a quarter of the shortest one, at least every second. They may be late by as much.
package struct HTTPTimeouts: Equatable, Sendable {
  /// From accept to the end of the TLS handshake; then a close.
  /// 10 s: two round trips, with the retransmissions that `head` allows for.
  package var handshake = Duration.seconds(10)
  /// From accept, or from a head's first byte, to the head's end; then 408, or a silent close if nothing came.
  /// 10 s: three retransmissions on a bad mobile network. Short enough that slow senders cannot collect connections.
  package var head = Duration.seconds(10)
  /// The same for a connection of the reserve, and for its handshake and its content.
  /// 2 s: a health check comes from nearby and is one packet.
  package var reserve = Duration.seconds(2)
  /// From the head's end to the content's end; then 408.
  /// 30 s: 1 MiB at 300 kbit/s.
  package var body = Duration.seconds(30)
  /// The least rate of content after ``bodyGrace``, in bytes per second; then 408. Zero for any rate.
  /// 1024: a tenth of the slowest mobile network. A sender of single bytes is cut off after the grace, not the whole time.
  package var bodyBytesPerSecondMin = 1024
  /// The time before the rate of content counts.
  /// 5 s: two retransmissions, as in Kestrel (`MinRequestBodyDataRate`).
  package var bodyGrace = Duration.seconds(5)
  /// Between an answer and the next request; then a silent close.
  /// 75 s: nginx's default (`keepalive_timeout`). Common proxies close after 60 s, so the proxy closes first and no request
  /// meets a closing connection.
  package var idle = Duration.seconds(75)
  /// For the peer to accept the output; then a close.
  /// 30 s: answers are small, so a peer that accepts none for so long is gone.
  package var write = Duration.seconds(30)
  /// Between the last answer and the close, for the peer to stop sending (RFC 9112 section 9.6).
  /// 2 s: a round trip for any client that reads its answer.
  package var linger = Duration.seconds(2)

  package init() {}
}

/// The proxies trusted to set the client address. The field is ignored in requests of other peers.
package struct TrustedProxies: Sendable, Equatable {
  /// The field with the client address. Only one, because a proxy forwards fields it does not know, and a client could fill in
  /// the other.
  package enum Field: String, Sendable, CaseIterable {
    /// `X-Forwarded-For: client, proxy, proxy`.
    case xForwardedFor = "x-forwarded-for"
    /// `Forwarded: for=client, for="[2001:db8::1]:4711"` (RFC 7239).
    case forwarded
  }

  package var networks: [IPNetwork]
  package var includesUnixSockets: Bool
  package var field: Field

  /// By default no peer is trusted.
  package init(networks: [IPNetwork] = [], includesUnixSockets: Bool = false, field: Field = .xForwardedFor) {
    self.networks = networks
    self.includesUnixSockets = includesUnixSockets
    self.field = field
  }

  /// - Parameter peer: nil over a Unix socket.
  func trusts(_ peer: IPAddress?) -> Bool {
    guard let peer else { return includesUnixSockets }
    return networks.contains { $0.contains(peer) }
  }

  /// The client of a trusted peer's request.
  /// Each proxy appends the address of its peer, so the client is the first address from the end that is not a proxy.
  /// - Returns: the client; the last known proxy when that proxy names its peer other than by an address.
  func client(of head: RequestHead, from peer: IPAddress?) -> IPAddress? {
    var client = peer
    for element in elements(head).reversed() {
      guard let address = address(in: element) else { return client }
      client = address
      guard trusts(address) else { return client }
    }
    return client
  }

  /// The elements of all lines of the field. Addresses contain no commas in quotes, and an element cut at such a comma ends the
  /// search, because it is no address.
  private func elements(_ head: RequestHead) -> [Substring] {
    guard let name = HTTPField.Name(field.rawValue), let value = head[name] else { return [] }
    return value.split(separator: ",", omittingEmptySubsequences: false)
  }

  private func address(in element: Substring) -> IPAddress? {
    switch field {
    case .xForwardedFor: Self.address(element)
    case .forwarded: Self.forwardedFor(element)
    }
  }

  /// The only `for` parameter of an element.
  private static func forwardedFor(_ element: Substring) -> IPAddress? {
    let values = element.split(separator: ";").compactMap { pair -> Substring? in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 && trimmed(parts[0]).lowercased() == "for" ? trimmed(parts[1]) : nil
    }
    guard values.count == 1, let value = values.first else { return nil }
    guard value.hasPrefix("\"") else { return address(value) }
    guard value.count >= 2, value.hasSuffix("\"") else { return nil }
    return address(value.dropFirst().dropLast())
  }

  /// An address, with or without a port.
  private static func address(_ text: Substring) -> IPAddress? {
    let text = trimmed(text)
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
      return IPAddress(String(text[text.index(after: text.startIndex)..<end]))
    }
    if let address = IPAddress(String(text)) { return address }
    guard let colon = text.firstIndex(of: ":"), isPort(text[colon...]) else { return nil }
    return IPAddress(String(text[..<colon]))
  }

  /// Nothing, or a colon and digits.
  private static func isPort(_ text: Substring) -> Bool {
    guard !text.isEmpty else { return true }
    let digits = text.dropFirst()
    return text.hasPrefix(":") && UInt16(digits) != nil && digits.first != "+"
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }
}

/// Web pages of other origins that may call the service (CORS; the Fetch standard, section 3.3). Browsers send no credentials of
/// their own: callers prove themselves in `Authorization`.
package struct CrossOrigins: Equatable, Sendable {
  /// As browsers write them: `https://app.example.com`, without a path. Exact; none by default.
  package var origins: Set<String> = []

  /// The first segments of the paths that pages may call.
  static let places: Set<String> = ["v1", "clients"]

  /// What an answer says of them.
  struct Permission {
    /// Of the page that asks; nil where it may not, or where no page does.
    let origin: String?
  }

  package init() {}

  /// Nil where answers do not depend on the page.
  func permission(for head: RequestHead) -> Permission? {
    guard !origins.isEmpty, head.path.split(separator: "/").first.map({ Self.places.contains(String($0)) }) == true
    else {
      return nil
    }
    return Permission(origin: head[.origin].flatMap { origins.contains($0) ? $0 : nil })
  }
}

extension CrossOrigins.Permission {
  /// An answer that a browser hands to the page.
  func allow(_ response: HTTPServerResponse) -> HTTPServerResponse {
    guard case .plain(var head, let body) = response.content else { return response }
    // Also where no page asks, because caches may answer pages with it.
    head.fields.append(HTTPField(name: .vary, value: "Origin"))
    if let origin {
      head.fields[.accessControlAllowOrigin] = origin
      head.fields[.accessControlExposeHeaders] = "ETag, Retry-After"
    }
    return HTTPServerResponse(content: .plain(head, body))
  }

  /// The answer to the question that browsers ask before.
  func allowRequest(_ response: HTTPServerResponse, methods: String) -> HTTPServerResponse {
    guard origin != nil, case .plain(var head, let body) = response.content else { return response }
    head.fields[.accessControlAllowMethods] = methods
    head.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer"
    // Two hours: the longest that Chromium remembers.
    head.fields[.accessControlMaxAge] = "7200"
    return HTTPServerResponse(content: .plain(head, body))
  }
}
