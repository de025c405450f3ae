internal import CLinux
internal import Glibc

/// The address of a host, without a port.
///
/// An IPv4 address is kept as its IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), which is how a dual-stack socket
/// reports it; so one host has one value.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
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

  /// Reads `192.0.2.1` or `2001:db8::1`; nil for anything else, such as names, ports, brackets and zones.
  public init?(_ text: String) {
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

  /// The host's part of a socket's address; nil for a Unix socket.
  public init?(_ address: SocketAddress) {
    switch address.family {
    case .inet: self.init(v4: address.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in.self) }.sin_addr)
    case .inet6: self.init(v6: address.bytes.withUnsafeBytes { $0.loadUnaligned(as: sockaddr_in6.self) }.sin6_addr)
    case .unix: return nil
    }
  }

  /// Whether this is an IPv4 address, mapped or not.
  public var isIPv4: Bool { high == 0 && low >> 32 == Self.mappedPrefix }

  /// The shortest usual form, without brackets (RFC 5952).
  public var description: String {
    if isIPv4 {
      return [24, 16, 8, 0].map { String(low >> $0 & 0xff) }.joined(separator: ".")
    }
    var bytes = (high.bigEndian, low.bigEndian)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(AF_INET6, &bytes, buffer.baseAddress, socklen_t(INET6_ADDRSTRLEN)).map { String(cString: $0) } ?? ""
    }
  }
}
