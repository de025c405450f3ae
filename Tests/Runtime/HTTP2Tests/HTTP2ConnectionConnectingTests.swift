import Glibc
import HTTP2
import Reactors
import TestReactors
import Testing

@Suite("Connecting")
struct HTTP2ConnectionConnectingTests {
  @Test("a server without h2 is refused, with an error that says so", arguments: [["http/1.1"], []])
  func withoutHTTP2(protocols: [String]) async throws {
    try await onReactor { reactor in
      let server = try RawServer(protocols: protocols)
      server.acceptOne(on: reactor)
      await #expect {
        _ = try await server.connect(on: reactor)
      } throws: { ($0 as? TLSError)?.code == .protocolNotNegotiated }
    }
  }

  @Test("a server that agrees on h2 and then talks something else is a protocol violation")
  func garbage() async throws {
    try await onReactor { reactor in
      let server = try RawServer(protocols: ["h2"])
      server.acceptOne(saying: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", on: reactor)
      let log = StateLog()
      let connection = try await server.connect(observer: log, on: reactor)
      guard case .protocolViolation = try await log.closed(on: reactor) else { throw TestFailure() }
      #expect(connection.openStreams == 0)
    }
  }

  @Test("a certificate for another host is refused")
  func otherHost() async throws {
    try await onReactor { reactor in
      let server = try RawServer(protocols: ["h2"])
      server.acceptOne(on: reactor)
      await #expect {
        _ = try await server.connect(host: "localhost", on: reactor)
      } throws: { ($0 as? TLSError)?.code == .certificateRefused }
    }
  }

  @Test("a port that nobody listens on is refused")
  func nobody() async throws {
    try await onReactor { reactor in
      let server = try RawServer(protocols: ["h2"])
      let port = server.port
      server.stop()
      await #expect {
        _ = try await HTTP2Connection.connect(
          host: "127.0.0.1", port: port, context: server.trusting(), within: .seconds(5), on: reactor)
      } throws: { ($0 as? SystemError)?.code == ECONNREFUSED }
    }
  }

  @Test("the time limit covers a server that accepts and says nothing")
  func silence() async throws {
    try await onReactor { reactor in
      let server = try RawServer(protocols: ["h2"])
      await #expect {
        _ = try await server.connect(within: .milliseconds(200), on: reactor)
      } throws: { ($0 as? TLSError)?.code == .timedOut || ($0 as? SystemError)?.code == ETIMEDOUT }
    }
  }
}

/// A TLS server that knows no HTTP.
private final class RawServer {
  private let authority: CertificateAuthority
  private let context: TLSContext
  private var listener: ListeningSocket?
  private var streams: [TLSStream] = []
  let port: UInt16

  init(protocols: [String]) throws {
    authority = try CertificateAuthority(name: "Test authority")
    let identity = try authority.issue(for: ["127.0.0.1"])
    context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure() }
    let listener = try ListeningSocket(on: address)
    port = listener.address.port
    self.listener = listener
  }

  func stop() {
    listener = nil
  }

  func trusting() throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: ["h2"])
  }

  func connect(
    host: String = "127.0.0.1", observer: StateLog? = nil, within limit: Duration = .seconds(5),
    on reactor: isolated Reactor
  ) async throws -> HTTP2Connection {
    try await HTTP2Connection.connect(
      host: host, port: port, context: trusting(), observer: observer, within: limit, on: reactor)
  }

  /// Takes one connection, and says something after the handshake.
  func acceptOne(saying text: String = "", on reactor: isolated Reactor) {
    guard let listener else { return }
    reactor.start { [self] in
      _ = try? await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(5))
      guard case .accepted(let socket, _) = listener.accept() else { return }
      let stream = try? await TLSStream.accept(over: socket, context: context, within: .seconds(5), on: reactor)
      guard let stream else { return }
      _ = Array(text.utf8).withUnsafeBytes { stream.write($0) }
      streams.append(stream)
    }
  }
}
