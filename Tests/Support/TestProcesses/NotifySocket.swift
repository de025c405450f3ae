import Foundation

/// What a supervisor is told: a datagram socket, as `NOTIFY_SOCKET` names it.
package final class NotifySocket {
  /// A message that does not come is a failure, not a test that hangs.
  private static let limit = timeval(tv_sec: 30, tv_usec: 0)

  /// Its address, with an `@` in front in the abstract namespace.
  package let name: String

  private let descriptor: Int32

  /// - Parameter isAbstract: whether it is a name of the kernel, or else a file.
  package init(isAbstract: Bool) throws {
    name = "\(isAbstract ? "@" : "/tmp/")tacet-test-\(UUID())"
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var bytes = Array(name.utf8)
    if isAbstract { bytes[0] = 0 }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    var limit = Self.limit
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard code == 0 else { throw TestProcessError(description: "bind \(name): errno \(errno)") }
  }

  deinit {
    close(descriptor)
    if name.hasPrefix("/") { unlink(name) }
  }

  /// The next message; nil after half a minute without one.
  package func next() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }
}
