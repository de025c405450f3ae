internal import CLinux
internal import Glibc

/// The address of a host, without a port.
///
/// An IPv4 address is stored as its IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), as a dual-stack socket reports it.
/// One host therefore has one value.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  private static let mappedPrefix: UInt64 = 0xffff

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  private init(v4 address: in_addr) {
    self.init(high: 0, low: Self.mappedPrefix << 32 | UInt64(UInt32(bigEndian: address.s_addr)))
  }

  private init(v6 address: in6_addr) {
    // Both are sixteen bytes without padding.
    let (high, low) = unsafeBitCast(address, to: (UInt64, UInt64).self)
    self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }

  /// Reads `192.0.2.1` or `2001:db8::1`. Nil for anything else, such as names, ports, brackets and zones.
  package init?(_ text: String) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      self.init(v4: v4)
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      self.init(v6: v6)
    } else {
      return nil
    }
  }

  /// The host of a socket address. Nil for a Unix socket.
  package init?(_ address: SocketAddress) {
    switch address.family {
    case .inet: self.init(v4: address.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in.self) }.sin_addr)
    case .inet6: self.init(v6: address.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in6.self) }.sin6_addr)
    case .unix: return nil
    }
  }

  /// Whether this is an IPv4 address, mapped or not.
  package var isIPv4: Bool { high == 0 && low >> 32 == Self.mappedPrefix }

  /// The shortest usual form, without brackets (RFC 5952).
  package var description: String {
    if isIPv4 {
      return [24, 16, 8, 0].map { String(low >> $0 & 0xff) }.joined(separator: ".")
    }
    return numericText(of: (high.bigEndian, low.bigEndian), AF_INET6)
  }
}

/// The addresses that share their first bits: `10.0.0.0/8`, `2001:db8::/32`.
package struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
  /// The lowest address.
  package let address: IPAddress
  /// Shared bits out of 128. An IPv4 address has 96 bits of prefix before its own 32.
  private let prefixBits: Int

  /// The network of an address.
  /// - Parameter prefixBits: 0 to 32 for an IPv4 address, 0 to 128 for an IPv6 address. Other values trap.
  package init(containing address: IPAddress, prefixBits: Int) {
    let bits = address.isIPv4 ? prefixBits + 96 : prefixBits
    precondition((address.isIPv4 ? 96 : 0)...128 ~= bits, "\(address) has no network of \(prefixBits) bits")
    self.prefixBits = bits
    self.address = Self.masked(address, bits)
  }

  /// The network of one host: an IPv4 address alone, or the IPv6 /64 in which a host changes its address (RFC 8981).
  package init(ofHost address: IPAddress) {
    self.init(containing: address, prefixBits: address.isIPv4 ? 32 : 64)
  }

  /// Reads `address/bits`, or an address, which is the network of itself.
  ///
  /// Nil for anything else, also for an address with bits behind its prefix: one of the two is then a mistake.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])) else { return nil }
    let width = address.isIPv4 ? 32 : 128
    let digits = parts.count == 1 ? Substring(String(width)) : parts[1]
    guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let bits = Int(digits), bits <= width
    else { return nil }
    self.init(containing: address, prefixBits: bits)
    guard self.address == address else { return nil }
  }

  /// Whether the network contains an address. The only IPv6 network with IPv4 addresses is `::ffff:0:0/96`.
  package func contains(_ other: IPAddress) -> Bool { Self.masked(other, prefixBits) == address }

  package var description: String { "\(address)/\(address.isIPv4 ? prefixBits - 96 : prefixBits)" }

  /// Swift shifts by 64 to zero, so no width is a special case.
  private static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
    let high = UInt64.max << max(0, 64 - bits)
    let low = UInt64.max << min(64, 128 - bits)
    return IPAddress(high: address.high & high, low: address.low & low)
  }
}

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
