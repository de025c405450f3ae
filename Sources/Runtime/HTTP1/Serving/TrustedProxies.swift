internal import HTTPTypes
package import Reactors

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
  ///
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
