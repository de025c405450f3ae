/// All addresses that share their first bits: `10.0.0.0/8`, `2001:db8::/32`.
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
  /// The lowest address.
  public let address: IPAddress
  /// Shared bits of 128; an IPv4 address has 96 before its own.
  private let prefixBits: Int

  /// The network of an address.
  /// - Parameter prefixBits: of 32 for an IPv4 address, of 128 for an IPv6 address; more or fewer trap.
  public init(containing address: IPAddress, prefixBits: Int) {
    let bits = address.isIPv4 ? prefixBits + 96 : prefixBits
    precondition((address.isIPv4 ? 96 : 0)...128 ~= bits, "\(address) has no network of \(prefixBits) bits")
    self.prefixBits = bits
    self.address = Self.masked(address, bits)
  }

  /// What belongs to one host: an IPv4 address alone, and of IPv6 the /64 that a host is commonly given whole, within which it
  /// changes its address (RFC 8981).
  public init(ofHost address: IPAddress) {
    self.init(containing: address, prefixBits: address.isIPv4 ? 32 : 64)
  }

  /// Reads `address/bits`, or an address, which is a network of itself; nil for anything else, and when the address has
  /// bits behind its prefix, since one of the two is then a mistake.
  public init?(_ text: String) {
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

  /// Whether an address is in the network. IPv4 addresses are in IPv6 networks only as `::ffff:0:0/96`.
  public func contains(_ other: IPAddress) -> Bool { Self.masked(other, prefixBits) == address }

  /// `address/bits`.
  public var description: String { "\(address)/\(address.isIPv4 ? prefixBits - 96 : prefixBits)" }

  /// Shifts by 64 are zero in Swift, so no case is special.
  private static func masked(_ address: IPAddress, _ bits: Int) -> IPAddress {
    let high = UInt64.max << max(0, 64 - bits)
    let low = UInt64.max << min(64, 128 - bits)
    return IPAddress(high: address.high & high, low: address.low & low)
  }
}
