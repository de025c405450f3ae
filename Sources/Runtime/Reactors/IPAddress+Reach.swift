extension IPAddress {
  /// Whether this is the machine itself: 127.0.0.0/8 or ::1.
  package var isLoopback: Bool { Self.loopback.contains { $0.contains(self) } }

  /// Whether this is an address of one host on the public internet.
  ///
  /// False for private, shared, loopback, link-local, multicast, documentation, reserved and unspecified addresses, and for IPv6
  /// addresses that lead to such an IPv4 address. Source: the IANA registries of special-purpose addresses (RFC 6890), and for
  /// IPv6 the allocated unicast space, 2000::/3.
  package var isPublic: Bool {
    if isIPv4 { return !Self.specialIPv4.contains { $0.contains(self) } }
    if Self.translated.contains(self) { return IPAddress(high: 0, low: 0xffff << 32 | low & 0xffff_ffff).isPublic }
    return Self.unicast.contains(self) && !Self.specialIPv6.contains { $0.contains(self) }
  }

  private static let loopback = networks("127.0.0.0/8", "::1/128")
  private static let specialIPv4 = networks(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/3")
  private static let unicast = networks("2000::/3")[0]
  /// Protocol assignments with Teredo, documentation, and 6to4, which embeds an IPv4 address and is obsolete (RFC 7526).
  private static let specialIPv6 = networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
  /// NAT64: the last 32 bits are an IPv4 address (RFC 6052).
  private static let translated = networks("64:ff9b::/96")[0]

  private static func networks(_ texts: String...) -> [IPNetwork] {
    texts.map { text in
      guard let network = IPNetwork(text) else { preconditionFailure("\(text) is no network") }
      return network
    }
  }
}
