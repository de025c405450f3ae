import Foundation
import Glibc
import TestReactors
import Testing

@testable import Reactors

@Suite struct ListeningSocketTests {
  private let path = "/tmp/tacet-listening-\(Int.random(in: 0..<1 << 40)).sock"

  @Test("a Unix socket's file has the permissions asked for, and is gone at the end", arguments: [0o600, 0o660, 0o777])
  func mode(_ mode: UInt32) throws {
    var socket: ListeningSocket? = try ListeningSocket(on: address(), unixMode: mode)
    #expect(try permissions() == mode)
    _ = consume socket
    socket = nil
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a socket that nobody listens on any more is replaced")
  func stale() throws {
    let abandoned = try Socket.open(.unix)
    #expect(try address().withSockaddr { bind(abandoned.descriptor, $0, $1) } == 0)
    _ = consume abandoned
    #expect(FileManager.default.fileExists(atPath: path))
    _ = try ListeningSocket(on: address())
  }

  @Test("a socket that is listened on is left alone")
  func inUse() throws {
    let first = try ListeningSocket(on: address())
    #expect(throws: SystemError(operation: "bind unix:\(path)", code: EADDRINUSE)) {
      try ListeningSocket(on: address())
    }
    #expect(FileManager.default.fileExists(atPath: path))
    _ = consume first
  }

  @Test("a file that is no socket is left alone")
  func otherFile() throws {
    try "precious".write(toFile: path, atomically: false, encoding: .utf8)
    #expect(throws: SystemError.self) { try ListeningSocket(on: address()) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    try FileManager.default.removeItem(atPath: path)
  }

  @Test("the file of a successor is not removed")
  func successor() throws {
    var first: ListeningSocket? = try ListeningSocket(on: address())
    try FileManager.default.removeItem(atPath: path)
    let second = try ListeningSocket(on: address())
    _ = consume first
    first = nil
    #expect(FileManager.default.fileExists(atPath: path))
    _ = consume second
  }

  @Test("a socket on :: takes IPv4 as well, whose peers are IPv4 hosts")
  func dualStack() throws {
    let listener = try ListeningSocket(on: try #require(SocketAddress(numericHost: "::", port: 0)))
    for host in ["127.0.0.1", "::1"] {
      let address = try #require(SocketAddress(numericHost: host, port: listener.address.port))
      let client = try Socket.open(address.family)
      _ = address.withSockaddr { connect(client.descriptor, $0, $1) }
      var ready = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&ready, 1, 5000) == 1)
      guard case .accepted(_, let peer?) = listener.accept() else {
        Issue.record("nothing was accepted from \(host)")
        continue
      }
      #expect(IPAddress(peer) == IPAddress(host))
      _ = consume client
    }
  }

  private func address() throws -> SocketAddress { try #require(SocketAddress(unixPath: path)) }

  private func permissions() throws -> UInt32? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber).map { $0.uint32Value }
  }
}

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
