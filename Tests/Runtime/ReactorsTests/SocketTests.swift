import Foundation
import Glibc
import TestProcesses
import TestReactors
import Testing

@testable import Reactors

@Suite("Sockets")
struct SocketTests {
  @Test(
    "addresses are read and printed",
    arguments: [("127.0.0.1", 80, "127.0.0.1:80"), ("::1", 8080, "[::1]:8080"), ("::", 0, "[::]:0")])
  func numericAddresses(host: String, port: UInt16, text: String) {
    #expect(SocketAddress(numericHost: host, port: port)?.description == text)
  }

  @Test("a name is not a numeric host", arguments: ["localhost", "", "1.2.3", "[::1]", "127.0.0.1 "])
  func names(host: String) {
    #expect(SocketAddress(numericHost: host, port: 1) == nil)
  }

  @Test("a Unix path longer than the kernel takes is refused")
  func longPath() {
    #expect(SocketAddress(unixPath: String(repeating: "a", count: 107)) != nil)
    #expect(SocketAddress(unixPath: String(repeating: "a", count: 108)) == nil)
    #expect(SocketAddress(unixPath: "") == nil)
  }

  @Test("bytes travel both ways over every family", arguments: ["127.0.0.1", "::1", "unix"])
  func roundTrip(host: String) async throws {
    try await onReactor { reactor in
      let path = "/tmp/tacet-socket-\(getpid()).sock"
      let address = try #require(
        host == "unix" ? SocketAddress(unixPath: path) : SocketAddress(numericHost: host, port: 0))
      let listener = try ListeningSocket(on: address)
      let client = try await Socket.connect(to: listener.address, within: .seconds(30), on: reactor)
      _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(30))
      guard case .accepted(let server, _) = listener.accept() else {
        Issue.record("nothing to accept")
        return
      }
      #expect(Array("ping".utf8).withUnsafeBytes { client.write($0) } == .bytes(4))
      #expect(try await receive(server, on: reactor) == "ping")
      client.shutDownWriting()
      #expect(try await receive(server, on: reactor) == nil)
    }
  }

  @Test("a refused connection is an error that names the address")
  func refused() async throws {
    try await onReactor { reactor in
      let port = try reservedPort()
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: port))
      await #expect(throws: SystemError(operation: "connect to 127.0.0.1:\(port)", code: ECONNREFUSED)) {
        _ = try await Socket.connect(to: address, within: .seconds(30), on: reactor)
      }
    }
  }

  @Test("a descriptor's number used again does not get the old registration's events")
  func generations() async throws {
    try await onReactor { reactor in
      let first = Registration(descriptor: 9, generation: 4)
      #expect(Registration(tag: first.tag) == first)
      #expect(Registration(tag: Registration(descriptor: 9, generation: 5).tag) != first)
    }
  }

  @Test("a name is resolved off the reactor, a number on it")
  func resolver() async throws {
    #expect(try await Resolver.addresses(of: "127.0.0.1", port: 7).map(\.description) == ["127.0.0.1:7"])
    #expect(try await Resolver.addresses(of: "localhost", port: 7).contains { $0.port == 7 })
    await #expect(throws: ResolutionError.self) { try await Resolver.addresses(of: "no.such.invalid", port: 7) }
  }

  private func receive(_ socket: Socket, on reactor: isolated Reactor) async throws -> String? {
    _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(30))
    var buffer = [UInt8](repeating: 0, count: 64)
    let outcome = buffer.withUnsafeMutableBytes { socket.read(into: $0) }
    guard case .bytes(let count) = outcome else { return nil }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}

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
      #expect(poll(&ready, 1, 30_000) == 1)
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
      _ = try await reactor.waitForReadiness(of: socket.descriptor, .write, for: .seconds(30))
      #expect(socket.takePendingError(operation: "connect") == nil)
    }
  }

  private static func accepted(by listener: ListeningSocket) -> Int {
    var sockets: [Socket] = []
    while case .accepted(let socket, _) = listener.accept() { sockets.append(socket) }
    return sockets.count
  }
}
