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

  init(owning descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

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
  package func shutDownWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends small writes at once, without waiting for the peer's acknowledgement (no Nagle's algorithm).
  package func disableDelay() { set(Int32(IPPROTO_TCP), TCP_NODELAY, 1) }

  package var localAddress: SocketAddress? {
    var storage = sockaddr_storage()
    let code = withUnsafeMutablePointer(to: &storage) { pointer in
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      return pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return code == 0 ? SocketAddress(kernel: storage) : nil
  }

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

package enum AcceptOutcome {
  /// A non-blocking connection, and the address of its peer if the family has one.
  case accepted(Socket, SocketAddress?)
  case wouldBlock
  /// The connection was reset in the queue. The next one may be fine.
  case connectionLost
  /// The process has no descriptor or memory left. Pause accepting, or the loop spins.
  case exhausted(SystemError)
}

package final class ListeningSocket {
  /// Connections that the kernel may complete ahead of `accept`. The kernel's ceiling (`somaxconn`) is 4096 by default.
  package static let backlog = 4096

  private let socket: Socket
  /// The file of a Unix socket. It is removed at the end, unless another file has replaced it.
  private let unixFile: UnixSocketFile?
  /// Whether another process owns the queue, so that connections left in it are not lost.
  package let isInherited: Bool
  /// The address it listens on, with the kernel's choice in place of port 0.
  package let address: SocketAddress

  /// Binds and listens.
  /// TCP sockets share their port (`SO_REUSEPORT`), so each reactor and a successor process can have one.
  /// An IPv6 socket on `::` also accepts IPv4 connections, regardless of `net.ipv6.bindv6only`.
  /// A stale Unix socket without a listener is replaced. A socket that answers, or another kind of file, is not.
  /// - Parameter unixMode: the permissions of a Unix socket's file; nil leaves them to the process's umask.
  /// - Throws: ``SystemError``, e.g. `EADDRINUSE`, naming the address.
  package init(on address: SocketAddress, unixMode: UInt32? = nil) throws(SystemError) {
    let socket = try Socket.open(address.family)
    self.socket = socket
    Self.prepare(socket, for: address)
    guard address.withSockaddr({ bind(socket.descriptor, $0, $1) }) == 0 else {
      throw SystemError(operation: "bind \(address)", code: errno)
    }
    unixFile = address.unixPath.flatMap { UnixSocketFile(at: $0) }
    // Before `listen`, so no client can connect under other permissions.
    if let unixMode { try unixFile?.setMode(unixMode) }
    guard listen(socket.descriptor, Int32(Self.backlog)) == 0 else {
      throw SystemError(operation: "listen on \(address)", code: errno)
    }
    self.address = address.family == .unix ? address : socket.localAddress ?? address
    isInherited = false
  }

  /// Takes a socket that a supervisor has opened, through a separate descriptor: several may accept from its queue.
  /// - Throws: ``SystemError`` for a descriptor that is no listening stream socket.
  package init(inherited descriptor: Int32) throws(SystemError) {
    let operation = "listen on the inherited descriptor \(descriptor)"
    guard Self.option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue),
      Self.option(SO_ACCEPTCONN, of: descriptor) == 1
    else { throw SystemError(operation: operation, code: EINVAL) }
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(operation: operation, code: errno) }
    socket = Socket(owning: copy)
    guard fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK) == 0, let address = socket.localAddress else {
      throw SystemError(operation: operation, code: errno)
    }
    self.address = address
    unixFile = nil
    isInherited = true
  }

  private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
  }

  deinit { unixFile?.remove() }

  package var descriptor: Int32 { socket.descriptor }

  package func accept() -> AcceptOutcome {
    var storage = sockaddr_storage()
    let descriptor = clinux_accept(socket.descriptor, &storage)
    if descriptor >= 0 { return .accepted(Socket(owning: descriptor), SocketAddress(kernel: storage)) }
    let code = errno
    return switch code {
    case EAGAIN, EWOULDBLOCK: .wouldBlock
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: .exhausted(SystemError(operation: "accept", code: code))
    default: .connectionLost
    }
  }

  private static func prepare(_ socket: Socket, for address: SocketAddress) {
    guard address.family != .unix else { return removeStaleFile(at: address) }
    socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
    socket.set(SOL_SOCKET, SO_REUSEPORT, 1)
    if address.family == .inet6 { socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
  }

  /// `connect` refuses a file of another kind in the same way, so `UnixSocketFile` checks the kind first.
  private static func removeStaleFile(at address: SocketAddress) {
    guard let file = address.unixPath.flatMap({ UnixSocketFile(at: $0) }), let probe = try? Socket.open(.unix) else {
      return
    }
    let code = address.withSockaddr { Glibc.connect(probe.descriptor, $0, $1) == 0 ? 0 : errno }
    if code == ECONNREFUSED { file.remove() }
  }
}

extension ListeningSocket {
  /// Drops new connection attempts. Established connections, and handshakes under way, can still be accepted.
  ///
  /// Closing a TCP listener resets the connections in its queue, even when other sockets share its port (`SO_REUSEPORT`):
  /// the kernel assigns a connection to one socket at its first segment, and moves it only if `net.ipv4.tcp_migrate_req`
  /// is set. A filter that drops first segments (SYN) keeps the queue from growing. The client sends its SYN again after a
  /// second (RFC 6298 section 2). By then this socket is closed, and the kernel chooses another.
  ///
  /// Accepted connections inherit the filter, but never carry a SYN. Unix sockets are left as they are.
  /// - Throws: ``SystemError``.
  package func refuseHandshakes() throws(SystemError) {
    guard !address.isUnix else { return }
    var program = Self.dropFirstSegments
    let code = program.withUnsafeMutableBufferPointer { instructions in
      var filter = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
      return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, socklen_t(MemoryLayout<sock_fprog>.size))
    }
    guard code == 0 else { throw SystemError(operation: "filter on \(address)", code: errno) }
  }

  /// The filter of a TCP socket sees the segment from its header on. Byte 13 holds the flags ACK 0x10 and SYN 0x02 (RFC 9293
  /// section 3.1).
  private static var dropFirstSegments: [sock_filter] {
    let load = UInt16(BPF_LD | BPF_B | BPF_ABS)
    let and = UInt16(BPF_ALU | BPF_AND | BPF_K)
    let jumpIfEqual = UInt16(BPF_JMP | BPF_JEQ | BPF_K)
    let take = UInt16(BPF_RET | BPF_K)
    return [
      sock_filter(code: load, jt: 0, jf: 0, k: 13),
      sock_filter(code: and, jt: 0, jf: 0, k: 0x12),
      sock_filter(code: jumpIfEqual, jt: 0, jf: 1, k: 0x02),
      sock_filter(code: take, jt: 0, jf: 0, k: 0),
      sock_filter(code: take, jt: 0, jf: 0, k: .max),
    ]
  }
}

/// The file of a Unix socket. Device and inode tell it from a later file at the same path.
private struct UnixSocketFile {
  private let path: String
  private let device: dev_t
  private let number: ino_t

  /// Nil if the path has no file, or a file of another kind.
  init?(at path: String) {
    guard let status = Self.status(of: path) else { return nil }
    self.path = path
    device = status.st_dev
    number = status.st_ino
  }

  func setMode(_ mode: UInt32) throws(SystemError) {
    guard chmod(path, mode) == 0 else { throw SystemError(operation: "chmod \(path)", code: errno) }
  }

  /// Removes the file unless another one has replaced it.
  func remove() {
    guard let status = Self.status(of: path), status.st_dev == device, status.st_ino == number else { return }
    unlink(path)
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    return status
  }
}

/// How many descriptors the process may have open (`RLIMIT_NOFILE`).
package enum DescriptorLimit {
  package static var current: Int { Int(clamping: read().rlim_cur) }

  /// Raises the soft limit to the hard limit. The soft limit is low because of `select`, which this process does not use.
  /// - Returns: the limit now in force.
  @discardableResult
  package static func raise() -> Int {
    var limit = read()
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return current
  }

  private static func read() -> rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }
}

/// A spare descriptor, released to turn a connection away when the process has no descriptor left.
/// Without it the connection would stay in the kernel's queue, and its peer would wait in vain.
package final class DescriptorReserve {
  private var descriptor: Int32 = -1

  package init() { refill() }

  deinit { release() }

  /// Frees the descriptor while `body` runs. `body` must close what it opens.
  /// Another thread may take the free descriptor first. Then later calls free nothing until a descriptor is closed.
  package func lend(_ body: () -> Void) {
    release()
    body()
    refill()
  }

  private func refill() { descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }

  private func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}

/// A failed system call: its name and its `errno`.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let operation: String
  package let code: Int32

  /// Describes a failed call. Read `errno` before another call overwrites it.
  package init(operation: String, code: Int32) {
    self.operation = operation
    self.code = code
  }

  package var description: String { "\(operation): \(Self.text(of: code)) (errno \(code))" }

  private static func text(of code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "unknown" }
      return strerror_r(code, base, 256) == 0 ? String(cString: base) : "unknown"
    }
  }
}
