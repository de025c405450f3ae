import HTTPTypes
import Reactors
import Synchronization
import TestReactors
import Testing

@testable import HTTP1

private let hello = Array("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
private let last = Array("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)

@Suite(.timeLimit(.minutes(5))) struct HTTPServiceTLSTests {
  private let identity: TestIdentity

  init() throws { identity = try TestIdentity() }

  @Test("requests are answered over TLS, with and without ALPN, and the end is told", arguments: [["http/1.1"], []])
  func answers(_ protocols: [String]) async throws {
    try await serve { address in
      let context = try identity.client(protocols: protocols)
      try await onReactor { reactor in
        let client = try await TLSClient(address, context, on: reactor)
        #expect(client.stream.negotiatedProtocol == protocols.first ?? "")
        try await client.send(hello, on: reactor)
        #expect(try await client.read(until: "hello", on: reactor).hasPrefix("HTTP/1.1 200 "))
        try await client.send(last, on: reactor)
        #expect(try await client.read(on: reactor).contains("Connection: close\r\n"))
      }
    }
  }

  @Test("a client of another protocol is refused in the handshake")
  func refusesOtherProtocols() async throws {
    try await serve { address in
      let context = try identity.client(protocols: ["h2"])
      await #expect(throws: TLSError.self) {
        try await onReactor { reactor in _ = try await TLSClient(address, context, on: reactor) }
      }
    }
  }

  @Test("what was taken from the socket ahead is answered without more arriving")
  func answersBufferedRequests() async throws {
    try await serve { address in
      let context = try identity.client()
      try await onReactor { reactor in
        let client = try await TLSClient(address, context, on: reactor)
        let many = Array(repeatElement(hello, count: 2000).joined())
        try await client.send(many + last, on: reactor)
        #expect(try await client.read(on: reactor).split(separator: "HTTP/1.1 200").count == 2001)
      }
    }
  }

  @Test("an answer larger than the socket's buffers arrives whole")
  func sendsLargeAnswers() async throws {
    try await serve { address in
      let context = try identity.client()
      try await onReactor { reactor in
        let client = try await TLSClient(address, context, on: reactor)
        let request = "GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        try await client.send(Array(request.utf8), on: reactor)
        #expect(try await client.read(on: reactor).utf8.count > 32 * 1024 * 1024)
      }
    }
  }

  @Test("a client that begins a handshake and breaks off is closed, and others are served")
  func refusesBrokenHandshakes() async throws {
    try await serve { address in
      let broken = try TestClient(address, sending: "\u{16}\u{3}")
      broken.finishSending()
      #expect(!(await broken.readToEnd()).contains("HTTP"))
      let context = try identity.client()
      try await onReactor { reactor in _ = try await TLSClient(address, context, on: reactor) }
    }
  }

  @Test(
    "a client that speaks plain HTTP is told to use https, whatever it sends",
    arguments: [String(decoding: hello, as: UTF8.self), "G", "\r\n", String(repeating: "x", count: 100_000)])
  func refusesPlainClients(_ text: String) async throws {
    try await serve { address in
      let plain = try TestClient(address, sending: text)
      plain.finishSending()
      let answer = await plain.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("Content-Type: application/problem+json\r\n"))
      #expect(answer.contains("Connection: close\r\n") && answer.hasSuffix("use the scheme https.\"}"))
    }
  }

  @Test("a handshake that does not end in time is closed")
  func boundsHandshakes() async throws {
    try await serve(.short(\.handshake)) { address in
      let silent = try TestClient(address)
      #expect(await silent.readToEnd() == "")
    }
  }

  @Test("a stop waits a second for a handshake that does not go on, and no longer")
  func drainsSilence() async throws {
    try await ServiceRig.run(testRoutes(), tls: try identity.server()) { rig in
      let silent = try TestClient(rig.address)
      try await until { await rig.service.connectionCount > 0 }
      #expect(await rig.service.drain(within: .seconds(8)))
      _ = consume silent
    }
  }

  @Test("a client whose bytes do not end leaves the others their turns")
  func givesWay() async throws {
    let steps = Mutex<[String]>([])
    var routes = HTTPRoutes()
    routes.add(.get, "/hello") { _, reactor in
      if steps.withLock({ $0.isEmpty }) { reactor.start { steps.withLock { $0.append("other") } } }
      steps.withLock { $0.append("request") }
      return HTTPServerResponse(status: .ok)
    }
    try await ServiceRig.run(routes, tls: try identity.server()) { rig in
      let (address, context) = (rig.address, try identity.client())
      try await onReactor { reactor in
        let client = try await TLSClient(address, context, on: reactor)
        try await client.send(Array(repeatElement(hello, count: 300).joined()) + last, on: reactor)
        _ = try await client.read(on: reactor)
      }
      #expect(steps.withLock { $0.firstIndex(of: "other") ?? .max } < 150)
    }
  }

  @Test("a full service closes over TLS too, and answers health checks")
  func overload() async throws {
    let configuration = HTTPServiceConfiguration.limited {
      $0.totalMax = 0
      $0.reserveMax = 2
    }
    try await serve(configuration) { address in
      let context = try identity.client()
      try await onReactor { reactor in
        for (path, status) in [("/health", 204), ("/hello", 503)] {
          let client = try await TLSClient(address, context, on: reactor)
          try await client.send(Array("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n".utf8), on: reactor)
          #expect(try await client.read(on: reactor).hasPrefix("HTTP/1.1 \(status) "))
        }
      }
    }
  }

  @Test("a renewed certificate is shown to new connections, and those before keep theirs")
  func renews() async throws {
    let other = try TestIdentity()
    let (first, second) = (try identity.client(), try other.client())
    try await ServiceRig.run(testRoutes(), tls: try identity.server()) { rig in
      let (address, service, renewed) = (rig.address, rig.service, try other.server())
      try await onReactor { reactor in
        let early = try await TLSClient(address, first, on: reactor)
        await service.replaceTLS(renewed)
        let late = try await TLSClient(address, second, on: reactor)
        #expect(early.stream.peerCertificate != late.stream.peerCertificate)
        await #expect(throws: TLSError.self) { _ = try await TLSClient(address, first, on: reactor) }
        for client in [early, late] {
          try await client.send(hello, on: reactor)
          #expect(try await client.read(until: "hello", on: reactor).hasPrefix("HTTP/1.1 200 "))
        }
      }
    }
  }

  private func serve(
    _ configuration: HTTPServiceConfiguration = HTTPServiceConfiguration(),
    _ test: (SocketAddress) async throws -> Void
  ) async throws {
    try await ServiceRig.run(testRoutes(), configuration: configuration, tls: try identity.server()) { rig in
      try await test(rig.address)
    }
  }
}

/// An authority, and what a service and its clients need of it.
struct TestIdentity {
  let authority: CertificateAuthority

  init() throws { authority = try CertificateAuthority(name: "HTTP test authority") }

  /// As the service makes its own.
  func server() throws -> TLSContext {
    let identity = try authority.issue(for: ["127.0.0.1"])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["http/1.1"],
      requiresProtocol: false, releasesIdleBuffers: true)
  }

  func client(protocols: [String] = ["http/1.1"]) throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: protocols)
  }
}

/// A client's connection over TLS, for use on one reactor.
final class TLSClient {
  let stream: TLSStream

  init(_ address: SocketAddress, _ context: TLSContext, on reactor: isolated Reactor) async throws {
    let socket = try await Socket.connect(to: address, within: .seconds(30), on: reactor)
    stream = try await TLSStream.connect(
      over: socket, host: "127.0.0.1", context: context, within: .seconds(30), on: reactor)
  }

  func send(_ bytes: [UInt8], on reactor: isolated Reactor) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ stream.write($0) }) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .wouldBlock(let interest): try await wait(interest, on: reactor)
      case .failed(let error): throw error
      }
    }
  }

  /// Everything up to the server's `close_notify`, or until it ends with a text.
  func read(until end: String? = nil, on reactor: isolated Reactor) async throws -> String {
    var all = ""
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while end.map({ !all.hasSuffix($0) }) ?? true {
      switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
      case .bytes(let count): all += String(decoding: buffer[..<count], as: UTF8.self)
      case .wouldBlock(let interest): try await wait(interest, on: reactor)
      case .endOfStream: return all
      case .failed(let error): throw error
      }
    }
    return all
  }

  private func wait(_ interest: Interest, on reactor: isolated Reactor) async throws {
    guard try await reactor.waitForReadiness(of: stream.descriptor, interest, for: .seconds(30)) != nil else {
      throw HandlerFailure()
    }
  }
}
