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
