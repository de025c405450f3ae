import Glibc
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
      let client = try await Socket.connect(to: listener.address, within: .seconds(5), on: reactor)
      _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(5))
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
      let port = try freePort()
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: port))
      await #expect(throws: SystemError(operation: "connect to 127.0.0.1:\(port)", code: ECONNREFUSED)) {
        _ = try await Socket.connect(to: address, within: .seconds(5), on: reactor)
      }
    }
  }

  @Test("a stale Unix socket file is replaced, a live one is not")
  func staleFile() throws {
    let path = "/tmp/tacet-stale-\(getpid()).sock"
    let address = try #require(SocketAddress(unixPath: path))
    let abandoned = try Socket.open(.unix)
    #expect(address.withSockaddr { bind(abandoned.descriptor, $0, $1) } == 0)
    let listener = try ListeningSocket(on: address)
    #expect(throws: SystemError.self) { try ListeningSocket(on: address) }
    _ = listener
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
    _ = try await reactor.waitForReadiness(of: socket.descriptor, .read, for: .seconds(5))
    var buffer = [UInt8](repeating: 0, count: 64)
    let outcome = buffer.withUnsafeMutableBytes { socket.read(into: $0) }
    guard case .bytes(let count) = outcome else { return nil }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }

  private func freePort() throws -> UInt16 {
    try ListeningSocket(on: #require(SocketAddress(numericHost: "127.0.0.1", port: 0))).address.port
  }
}
