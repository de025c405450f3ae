internal import CLinux
internal import Glibc

package enum ReadOutcome: Equatable, Sendable {
  /// This many bytes were read, at least one.
  case bytes(Int)
  case wouldBlock
  /// The peer has closed its writing half.
  case endOfStream
  case failed(SystemError)
}

package enum WriteOutcome: Equatable, Sendable {
  /// This many bytes were taken, possibly fewer than offered.
  case bytes(Int)
  case wouldBlock
  case failed(SystemError)
}

/// The one owner of a non-blocking stream socket. Closes it when released: deregister it from the reactor before.
package final class Socket {
  /// The descriptor, for registration and for libraries that read and write it themselves. Never close it elsewhere.
  package let descriptor: Int32

  init(owning descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadOutcome {
    let count = clinux_receive(descriptor, buffer.baseAddress, UInt(buffer.count), 0)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .endOfStream }
    return isRetry(errno) ? .wouldBlock : .failed(SystemError(operation: "recv", code: errno))
  }

  /// The next byte that a read will return. Nil when nothing can be read now, or ever.
  package func peek() -> UInt8? {
    var byte: UInt8 = 0
    return clinux_receive(descriptor, &byte, 1, Int32(MSG_PEEK)) == 1 ? byte : nil
  }

  package func write(_ buffer: UnsafeRawBufferPointer) -> WriteOutcome {
    let count = clinux_send(descriptor, buffer.baseAddress, UInt(buffer.count))
    if count >= 0 { return .bytes(count) }
    return isRetry(errno) ? .wouldBlock : .failed(SystemError(operation: "send", code: errno))
  }

  /// Ends the stream for the peer. Reading goes on.
  package func shutDownWriting() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Sends small writes at once, without waiting for the peer's acknowledgement (no Nagle's algorithm).
  package func disableDelay() {
    set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
  }

  package var localAddress: SocketAddress? {
    var storage = sockaddr_storage()
    let code = withUnsafeMutablePointer(to: &storage) { pointer in
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return code == 0 ? SocketAddress(kernel: storage) : nil
  }

  /// Takes the pending error off the socket; nil without one.
  package func takePendingError(operation: String) -> SystemError? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    return code == 0 ? nil : SystemError(operation: operation, code: code)
  }

  func set(_ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    _ = setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  static func open(_ family: SocketAddress.Family) throws(SystemError) -> Socket {
    let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family.domain, flags, 0)
    guard descriptor >= 0 else { throw SystemError(operation: "socket", code: errno) }
    return Socket(owning: descriptor)
  }

  /// After `EINTR` the next tick tries again, because readiness is level-triggered.
  private func isRetry(_ code: Int32) -> Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}

extension Socket {
  /// Opens a connection without blocking the reactor.
  /// - Parameter limit: the time for the whole connect.
  /// - Throws: ``SystemError``; `ETIMEDOUT` when the limit passed.
  package static func connect(
    to address: SocketAddress, within limit: Duration, on reactor: isolated Reactor
  ) async throws(SystemError) -> Socket {
    let socket = try open(address.family)
    if address.family != .unix { socket.disableDelay() }
    let code = address.withSockaddr { Glibc.connect(socket.descriptor, $0, $1) == 0 ? 0 : errno }
    if code == 0 { return socket }
    guard code == EINPROGRESS else { throw SystemError(operation: "connect to \(address)", code: code) }
    guard try await reactor.waitForReadiness(of: socket.descriptor, .write, for: limit) != nil else {
      throw SystemError(operation: "connect to \(address)", code: ETIMEDOUT)
    }
    if let error = socket.takePendingError(operation: "connect to \(address)") { throw error }
    return socket
  }
}
