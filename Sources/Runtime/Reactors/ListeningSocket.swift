internal import CLinux
internal import Glibc

/// What one attempt to accept found.
public enum AcceptOutcome {
  /// A connection, non-blocking, and its peer where the family tells.
  case accepted(Socket, SocketAddress?)
  /// Nobody is waiting.
  case wouldBlock
  /// This connection is lost (it was reset in the queue); the next may be fine.
  case connectionLost
  /// No descriptor or memory to be had; stop accepting for a while, or the loop spins.
  case exhausted(SystemError)
}

/// A socket that accepts connections.
public final class ListeningSocket {
  /// Connections the kernel may complete ahead of `accept`; the kernel's own ceiling (`somaxconn`) is 4096 by default.
  public static let backlog = 4096

  private let socket: Socket
  /// The file of a Unix socket, which is removed at the end unless it is another by then.
  private let unixFile: UnixSocketFile?

  /// Where it listens, with the port the kernel chose when port 0 was asked for.
  public let address: SocketAddress

  /// Binds and listens.
  ///
  /// TCP sockets share their port (`SO_REUSEPORT`), so that each reactor, and a successor process, can have its own.
  /// An IPv6 socket on `::` takes IPv4 connections as well, whatever the system's default (`net.ipv6.bindv6only`) is.
  /// A stale Unix socket that nobody listens on is replaced; one that answers, and a file that is no socket, is not.
  /// - Parameter unixMode: the permissions of a Unix socket's file; nil for what the process's umask leaves.
  /// - Throws: ``SystemError``, e.g. `EADDRINUSE`, naming the address.
  public init(on address: SocketAddress, unixMode: UInt32? = nil) throws(SystemError) {
    let socket = try Socket.open(address.family)
    self.socket = socket
    ListeningSocket.prepare(socket, for: address)
    guard address.withSockaddr({ bind(socket.descriptor, $0, $1) }) == 0 else {
      throw SystemError(operation: "bind \(address)", code: errno)
    }
    unixFile = address.unixPath.flatMap { UnixSocketFile(at: $0) }
    // Before anybody can connect, which needs a listener.
    if let unixMode { try unixFile?.setMode(unixMode) }
    guard listen(socket.descriptor, Int32(ListeningSocket.backlog)) == 0 else {
      throw SystemError(operation: "listen on \(address)", code: errno)
    }
    self.address = address.family == .unix ? address : socket.localAddress ?? address
  }

  deinit {
    unixFile?.remove()
  }

  /// The descriptor, for registration.
  public var descriptor: Int32 { socket.descriptor }

  /// Takes one connection from the queue.
  public func accept() -> AcceptOutcome {
    var storage = sockaddr_storage()
    let descriptor = clinux_accept(socket.descriptor, &storage)
    if descriptor >= 0 { return .accepted(Socket(owning: descriptor), SocketAddress(kernel: storage)) }
    return ListeningSocket.outcome(of: errno)
  }

  private static func outcome(of code: Int32) -> AcceptOutcome {
    switch code {
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

  /// Connecting to a file that is no socket is refused just the same, so the kind of file is looked at first.
  private static func removeStaleFile(at address: SocketAddress) {
    guard let file = address.unixPath.flatMap({ UnixSocketFile(at: $0) }), let probe = try? Socket.open(.unix) else {
      return
    }
    let code = address.withSockaddr { Glibc.connect(probe.descriptor, $0, $1) == 0 ? 0 : errno }
    if code == ECONNREFUSED { file.remove() }
  }
}

extension ListeningSocket {
  /// Lets no new connection begin, while those already made, or being made, can still be accepted.
  ///
  /// Closing a TCP listener resets what waits in its queue, even when other sockets share its port (`SO_REUSEPORT`): the
  /// kernel has dealt each connection to one of them at its first segment, and moves none unless
  /// `net.ipv4.tcp_migrate_req` is set. A filter that drops first segments (SYN) keeps the queue from growing. Whoever is
  /// dropped comes again after a second (RFC 6298 section 2), when this socket is closed and another one is chosen.
  ///
  /// Accepted connections inherit the filter, which does not concern them: none of their segments is a SYN. Nothing happens
  /// to Unix sockets, whose callers wait in the queue alone.
  /// - Throws: ``SystemError``.
  public func refuseHandshakes() throws(SystemError) {
    guard !address.isUnix else { return }
    var program = Self.dropFirstSegments
    let code = program.withUnsafeMutableBufferPointer { instructions in
      var filter = sock_fprog(len: UInt16(instructions.count), filter: instructions.baseAddress)
      return setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &filter, socklen_t(MemoryLayout<sock_fprog>.size))
    }
    guard code == 0 else { throw SystemError(operation: "filter on \(address)", code: errno) }
  }

  /// For a TCP socket a filter sees the segment from its header on; the flags are the byte at 13, with ACK 0x10 and SYN 0x02
  /// (RFC 9293 section 3.1).
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

/// The file of a Unix socket, told from a later file at the same path by its number.
struct UnixSocketFile {
  private let path: String
  private let device: dev_t
  private let number: ino_t

  /// The file at a path; nil if there is none, or if it is no socket.
  init?(at path: String) {
    guard let status = Self.status(of: path) else { return nil }
    self.path = path
    device = status.st_dev
    number = status.st_ino
  }

  /// Sets the permissions.
  func setMode(_ mode: UInt32) throws(SystemError) {
    guard chmod(path, mode) == 0 else { throw SystemError(operation: "chmod \(path)", code: errno) }
  }

  /// Removes the file if it is still the same.
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
