internal import CLinux
internal import Glibc

/// A host name without addresses, and why.
package struct ResolutionError: Error, CustomStringConvertible {
  package let host: String

  /// The text of `getaddrinfo`, e.g. `Name or service not known`.
  package let reason: String

  package var description: String { "cannot resolve \(host): \(reason)" }
}

/// Turns host names into addresses.
package enum Resolver {
  /// Looks up the addresses of a host, in the order that the system prefers. Caches nothing.
  ///
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
