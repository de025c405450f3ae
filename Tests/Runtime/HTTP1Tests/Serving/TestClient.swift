import Foundation

@testable import Reactors

/// A blocking connection, as a client's that does exactly what the test says. Reads give up after ten seconds.
final class TestClient {
  struct ConnectFailed: Error {}

  let descriptor: Int32

  /// - Parameter afterSocket: called when the client has its descriptor and before it connects.
  init(_ address: SocketAddress, afterSocket: () -> Void = {}) throws {
    descriptor = try Self.connected(address, afterSocket)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Stops quietly when the server has closed.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Makes the close a reset, as of a client that crashed.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Everything up to the server's close; says so at the end if none came in time.
  func readToEnd() async -> String {
    await Self.onOwnThread { [descriptor] in
      var all = ""
      while let piece = Self.readSome(descriptor) { all += piece }
      return errno == EAGAIN ? all + " (still open)" : all
    }
  }

  /// What has arrived until it ends with this text.
  func read(until end: String) async -> String {
    await Self.onOwnThread { [descriptor] in
      var all = ""
      while !all.hasSuffix(end), let piece = Self.readSome(descriptor) { all += piece }
      return all
    }
  }

  /// `nil` at the end of the stream.
  func readSome(atMost bytesMax: Int = 65536) async -> String? {
    await Self.onOwnThread { [descriptor] in Self.readSome(descriptor, atMost: bytesMax) }
  }

  private static func readSome(_ descriptor: Int32, atMost bytesMax: Int = 65536) -> String? {
    var buffer = [UInt8](repeating: 0, count: bytesMax)
    errno = 0
    let count = recv(descriptor, &buffer, bytesMax, 0)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// The pool has as many threads as the machine has processors; a few tests that block them would starve the others.
  static func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: work()) }
    }
  }

  private static func connected(_ address: SocketAddress, _ afterSocket: () -> Void) throws -> Int32 {
    let isUnix = address.isUnix
    let descriptor = socket(
      isUnix ? AF_UNIX : address.description.hasPrefix("[") ? AF_INET6 : AF_INET,
      Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    afterSocket()
    guard descriptor >= 0, address.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw ConnectFailed()
    }
    return descriptor
  }
}

extension TestClient {
  /// One answer with its content, which has a length.
  func readAnswer() async -> String {
    var all = ""
    while let piece = await readSome() {
      all += piece
      guard let end = all.range(of: "\r\n\r\n") else { continue }
      let length = all.firstMatch(of: /\r\nContent-Length: (\d+)\r\n/).flatMap { Int($0.1) } ?? 0
      if all[end.upperBound...].utf8.count >= length { break }
    }
    return all
  }
}
