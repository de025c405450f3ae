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

private func rawBytes<Value>(of value: Value) -> [UInt8] {
  withUnsafeBytes(of: value) { Array($0) }
}

/// The text of an `in_addr` or `in6_addr`, without brackets.
func numericText<Address>(of address: Address, _ domain: Int32) -> String {
  withUnsafeBytes(of: address) { source in
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(domain, source.baseAddress, buffer.baseAddress, socklen_t(INET6_ADDRSTRLEN)).map { String(cString: $0) }
        ?? ""
    }
  }
}
