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
  private static let backlog: Int32 = 4096

  private let socket: Socket
  private let unixPath: String?

  /// Where it listens, with the port the kernel chose when port 0 was asked for.
  public let address: SocketAddress

  /// Binds and listens.
  ///
  /// TCP sockets share their port (`SO_REUSEPORT`), so that each reactor, and a successor process, can have its own.
  /// A stale Unix socket file that nobody listens on is replaced; one that answers is not.
  /// - Throws: ``SystemError``, e.g. `EADDRINUSE`, naming the address.
  public init(on address: SocketAddress) throws(SystemError) {
    let socket = try Socket.open(address.family)
    self.socket = socket
    unixPath = address.unixPath
    if address.family == .unix {
      ListeningSocket.removeStaleFile(at: address)
    } else {
      socket.set(SOL_SOCKET, SO_REUSEADDR, 1)
      socket.set(SOL_SOCKET, SO_REUSEPORT, 1)
    }
    guard address.withSockaddr({ bind(socket.descriptor, $0, $1) }) == 0 else {
      throw SystemError(operation: "bind \(address)", code: errno)
    }
    guard listen(socket.descriptor, ListeningSocket.backlog) == 0 else {
      throw SystemError(operation: "listen on \(address)", code: errno)
    }
    self.address = address.family == .unix ? address : socket.localAddress ?? address
  }

  deinit {
    if let unixPath { unlink(unixPath) }
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

  private static func removeStaleFile(at address: SocketAddress) {
    guard let path = address.unixPath, let probe = try? Socket.open(.unix) else { return }
    let code = address.withSockaddr { Glibc.connect(probe.descriptor, $0, $1) == 0 ? 0 : errno }
    if code == ECONNREFUSED { unlink(path) }
  }
}
