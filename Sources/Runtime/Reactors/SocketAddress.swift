internal import CLinux
internal import Glibc

/// The address that a socket listens on or connects to: IPv4, IPv6 or a Unix path.
package struct SocketAddress: Sendable, Equatable, CustomStringConvertible {
  enum Family: Equatable {
    case inet, inet6, unix

    var domain: Int32 {
      switch self {
      case .inet: AF_INET
      case .inet6: AF_INET6
      case .unix: AF_UNIX
      }
    }
  }

  /// The kernel's `sockaddr` for this address, without padding behind it.
  let bytes: [UInt8]
  let family: Family
  /// `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/tacet.sock`.
  package let description: String
  /// The port, 0 for a Unix path.
  package let port: UInt16

  /// An address from a numeric host. Nil for a name; a ``Resolver`` turns names into addresses.
  package init?(numericHost host: String, port: UInt16) {
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, host, &v4) == 1 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr = v4
      self.init(bytes: rawBytes(of: address), family: .inet, port: port, description: "\(host):\(port)")
    } else if inet_pton(AF_INET6, host, &v6) == 1 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = v6
      self.init(bytes: rawBytes(of: address), family: .inet6, port: port, description: "[\(host)]:\(port)")
    } else {
      return nil
    }
  }

  /// A Unix-domain address. Nil when the path is empty or longer than the kernel's 107 bytes.
  package init?(unixPath path: String) {
    let pathBytes = Array(path.utf8)
    guard !pathBytes.isEmpty, pathBytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: pathBytes) }
    self.init(bytes: rawBytes(of: address), family: .unix, port: 0, description: "unix:\(path)")
  }

  private init(bytes: [UInt8], family: Family, port: UInt16, description: String) {
    self.bytes = bytes
    self.family = family
    self.port = port
    self.description = description
  }

  /// The address that the kernel wrote. Nil for any other family.
  init?(kernel storage: sockaddr_storage) {
    switch Int32(storage.ss_family) {
    case AF_INET:
      let address = withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in.self) }
      self.init(numericHost: numericText(of: address.sin_addr, AF_INET), port: UInt16(bigEndian: address.sin_port))
    case AF_INET6:
      let address = withUnsafeBytes(of: storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
      self.init(numericHost: numericText(of: address.sin6_addr, AF_INET6), port: UInt16(bigEndian: address.sin6_port))
    case AF_UNIX:
      self.init(bytes: rawBytes(of: sockaddr_un()), family: .unix, port: 0, description: "unix")
    default:
      return nil
    }
  }

  package var isUnix: Bool { family == .unix }

  var unixPath: String? { family == .unix ? String(description.dropFirst("unix:".count)) : nil }

  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    bytes.withUnsafeBytes { raw in
      // The bytes are a copy of a `sockaddr_*`. The kernel reads them by the family in their first member.
      body(raw.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(raw.count))
    }
  }
}

private func rawBytes<Value>(of value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

/// The text of an `in_addr` or `in6_addr`, without brackets.
func numericText<Address>(of address: Address, _ domain: Int32) -> String {
  withUnsafeBytes(of: address) { source in
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(domain, source.baseAddress, buffer.baseAddress, socklen_t(INET6_ADDRSTRLEN)).map { String(cString: $0) }
        ?? ""
    }
  }
}

/// The address of a host, without a port.
/// An IPv4 address is stored as its IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), as a dual-stack socket reports it.
/// One host therefore has one value.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  private static let mappedPrefix: UInt64 = 0xffff
}

extension IPAddress {
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
    if isIPv4 { return [24, 16, 8, 0].map { String(low >> $0 & 0xff) }.joined(separator: ".") }
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

/// A host name without addresses, and why.
package struct ResolutionError: Error, CustomStringConvertible {
  package let host: String
  /// The text of `getaddrinfo`, e.g. `Name or service not known`.
  package let reason: String

  package var description: String { "cannot resolve \(host): \(reason)" }
}

package enum Resolver {
  /// Looks up the addresses of a host, in the order that the system prefers. Caches nothing.
  /// A numeric host takes no lookup. A name is looked up on the global executor, because `getaddrinfo` blocks.
  package static func addresses(of host: String, port: UInt16) async throws(ResolutionError) -> [SocketAddress] {
    if let address = SocketAddress(numericHost: host, port: port) { return [address] }
    let lookup = Task(executorPreference: globalConcurrentExecutor) { lookUp(host, port: port) }
    return try await lookup.value.get()
  }

  private static func lookUp(_ host: String, port: UInt16) -> Result<[SocketAddress], ResolutionError> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      return .failure(ResolutionError(host: host, reason: String(cString: gai_strerror(code))))
    }
    defer { freeaddrinfo(list) }
    return .success(sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { address(of: $0) })
  }

  private static func address(of entry: UnsafeMutablePointer<addrinfo>?) -> SocketAddress? {
    guard let entry, let source = entry.pointee.ai_addr else { return nil }
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) {
      $0.copyMemory(from: UnsafeRawBufferPointer(start: source, count: Int(entry.pointee.ai_addrlen)))
    }
    return SocketAddress(kernel: storage)
  }
}
