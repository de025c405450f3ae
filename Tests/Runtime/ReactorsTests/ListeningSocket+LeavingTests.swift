import Glibc
import TestReactors
import Testing

@testable import Reactors

@Suite("A listening socket that leaves its port")
struct ListeningSocketLeavingTests {
  @Test("what it has in its queue is accepted, and all who come later reach the other socket of the port")
  func leaving() async throws {
    try await onReactor { reactor in
      var leaving: ListeningSocket? = try ListeningSocket(
        on: try #require(SocketAddress(numericHost: "127.0.0.1", port: 0)))
      let address = try #require(leaving).address
      let early = try (0..<8).map { _ in try Self.startConnecting(to: address) }
      let staying = try ListeningSocket(on: address)
      try leaving?.refuseHandshakes()
      // The kernel deals connections out by their ports, so that half of these begin at the socket that refuses.
      let late = try (0..<32).map { _ in try Self.startConnecting(to: address) }
      try await Self.awaitConnections(early, on: reactor)
      #expect(Self.accepted(by: try #require(leaving)) == 8)
      leaving = nil
      try await Self.awaitConnections(late, on: reactor)
      #expect(Self.accepted(by: staying) == 32)
    }
  }

  @Test("a Unix socket has nothing to refuse")
  func unix() throws {
    let path = "/tmp/tacet-leaving-\(getpid()).sock"
    let listener = try ListeningSocket(on: try #require(SocketAddress(unixPath: path)))
    try listener.refuseHandshakes()
    let client = try Self.startConnecting(to: listener.address)
    #expect(Self.accepted(by: listener) == 1)
    _ = client
  }

  private static func startConnecting(to address: SocketAddress) throws -> Socket {
    let socket = try Socket.open(address.family)
    let code = address.withSockaddr { connect(socket.descriptor, $0, $1) == 0 ? 0 : errno }
    #expect([0, EINPROGRESS].contains(code))
    return socket
  }

  private static func awaitConnections(_ sockets: [Socket], on reactor: isolated Reactor) async throws {
    for socket in sockets {
      _ = try await reactor.waitForReadiness(of: socket.descriptor, .write, for: .seconds(10))
      #expect(socket.takePendingError(operation: "connect") == nil)
    }
  }

  private static func accepted(by listener: ListeningSocket) -> Int {
    var sockets: [Socket] = []
    while case .accepted(let socket, _) = listener.accept() { sockets.append(socket) }
    return sockets.count
  }
}
