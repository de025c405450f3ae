import Reactors
import TestReactors
import Testing

@Suite("TLS streams")
struct TLSStreamTests {
  @Test("bytes travel both ways, and close_notify is the end of the stream")
  func roundTrip() async throws {
    try await onReactor { reactor in
      let (client, server) = try await connectedPair(on: reactor)
      #expect(write(client, "") == .bytes(0) && write(client, "ping") == .bytes(4))
      #expect(try await read(server, on: reactor) == "ping")
      #expect(write(server, "pong") == .bytes(4))
      #expect(try await read(client, on: reactor) == "pong")
      client.shutDown()
      #expect(try await read(server, on: reactor) == nil)
    }
  }

  @Test("a connection that ends without close_notify is not an orderly end")
  func truncation() async throws {
    try await onReactor { reactor in
      var (client, server): (TLSStream?, TLSStream) = try await connectedPair(on: reactor)
      _ = client.map { write($0, "half a mes") }
      client = nil
      #expect(try await read(server, on: reactor) == "half a mes")
      await #expect {
        _ = try await read(server, on: reactor)
      } throws: { ($0 as? TLSError)?.code == .unexpectedEnd }
    }
  }

  @Test("a write is taken record by record until the socket is full, and resumes with the same bytes")
  func backPressure() async throws {
    try await onReactor { reactor in
      let (client, server) = try await connectedPair(on: reactor)
      let message = [UInt8](unsafeUninitializedCapacity: 8 << 20) { buffer, count in
        for index in 0..<buffer.count { buffer[index] = UInt8(truncatingIfNeeded: index &* 31 >> 7) }
        count = buffer.count
      }
      let received = try await transfer(message, from: client, to: server, on: reactor)
      #expect(received.bytes == message)
      // A record that had to wait, and the next one.
      #expect(received.largestWrite <= 32 * 1024)
      #expect(received.timesFull > 0)
    }
  }

  @Test("a write after the peer is gone fails, and does not kill the process")
  func brokenPipe() async throws {
    try await onReactor { reactor in
      var (client, server): (TLSStream, TLSStream?) = try await connectedPair(on: reactor)
      server = nil
      _ = server
      _ = try await reactor.waitForReadiness(of: client.descriptor, .read, for: .seconds(30))
      var outcome = TLSWriteOutcome.bytes(0)
      while case .bytes = outcome { outcome = write(client, "anybody there?") }
      guard case .failed(let error) = outcome else { throw TestFailure() }
      #expect(error.code == .connectionLost)
      #expect(error.system != nil)
    }
  }
}

private func connectedPair(on reactor: isolated Reactor) async throws -> (TLSStream, TLSStream) {
  let trust = try TestTrust()
  let hands = try await shakeHands(try trust.client(), try trust.server(), on: reactor)
  return (try hands.client.get(), try hands.server.get())
}

private func write(_ stream: TLSStream, _ text: String) -> TLSWriteOutcome {
  Array(text.utf8).withUnsafeBytes { stream.write($0) }
}

/// The next piece, nil at the end of the stream.
private func read(_ stream: TLSStream, on reactor: isolated Reactor) async throws -> String? {
  var buffer = [UInt8](repeating: 0, count: 16 * 1024)
  while true {
    switch buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) {
    case .bytes(let count): return String(decoding: buffer.prefix(count), as: UTF8.self)
    case .endOfStream: return nil
    case .failed(let error): throw error
    case .wouldBlock(let interest):
      guard try await reactor.waitForReadiness(of: stream.descriptor, interest, for: .seconds(30)) != nil else {
        throw TestFailure()
      }
    }
  }
}

private struct Transfer {
  var bytes: [UInt8] = []
  var largestWrite = 0
  var timesFull = 0
}

/// Writes until the socket is full, reads until it is empty, and so on.
private func transfer(
  _ message: [UInt8], from client: TLSStream, to server: TLSStream, on reactor: isolated Reactor
) async throws -> Transfer {
  var transfer = Transfer()
  var sent = 0
  var buffer = [UInt8](repeating: 0, count: 16 * 1024)
  while transfer.bytes.count < message.count {
    writing: while sent < message.count {
      switch message[sent...].withUnsafeBytes({ client.write($0) }) {
      case .bytes(let count):
        transfer.largestWrite = max(transfer.largestWrite, count)
        sent += count
      case .wouldBlock:
        transfer.timesFull += 1
        break writing
      case .failed(let error): throw error
      }
    }
    _ = try await reactor.waitForReadiness(of: server.descriptor, .read, for: .seconds(30))
    reading: while true {
      switch buffer.withUnsafeMutableBytes({ server.read(into: $0) }) {
      case .bytes(let count): transfer.bytes += buffer.prefix(count)
      case .wouldBlock: break reading
      case .endOfStream: throw TestFailure()
      case .failed(let error): throw error
      }
    }
  }
  return transfer
}

@Suite("TLS handshakes")
struct TLSStreamHandshakeTests {
  @Test(
    "a trusted certificate for the host is accepted, by name and by address", arguments: ["localhost", "127.0.0.1"])
  func accepted(host: String) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let hands = try await shakeHands(try trust.client(), try trust.server(), host: host, on: reactor)
      #expect(try hands.client.get().negotiatedProtocol == "h2")
      #expect(try hands.server.get().negotiatedProtocol == "h2")
    }
  }

  @Test(
    "a certificate of an unknown authority is refused, whatever that calls itself",
    arguments: [
      ("Other authority", "unable to get local issuer certificate"),
      ("Test authority", "certificate signature failure"),
    ])
  func unknownAuthority(name: String, text: String) async throws {
    try await onReactor { reactor in
      let server = try TestTrust(name: name).server()
      let hands = try await shakeHands(try TestTrust(name: "Test authority").client(), server, on: reactor)
      #expect(hands.client.error?.code == .certificateRefused)
      #expect(hands.client.error?.verification == text)
      #expect(hands.server.error?.code == .protocolFailure)
    }
  }

  @Test(
    "a certificate for another host, and one outside its time, is refused",
    arguments: [
      ("example.test", -60..<3600, "hostname mismatch"), ("127.0.0.2", -60..<3600, "IP address mismatch"),
      ("localhost", -7200..<(-3600), "certificate has expired"),
      ("localhost", 3600..<7200, "certificate is not yet valid"),
    ])
  func refused(host: String, validity: Range<Int>, text: String) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let hands = try await shakeHands(trust.client(), trust.server(validity: validity), host: host, on: reactor)
      #expect(hands.client.error?.code == .certificateRefused)
      #expect(hands.client.error?.verification?.lowercased() == text.lowercased())
    }
  }

  @Test(
    "without a common application protocol each side that wants one fails and says so",
    arguments: [(["h2"], ["http/1.1"]), (["h2"], []), ([], ["h2"])])
  func noOverlap(client: [String], server: [String]) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let hands = try await shakeHands(
        trust.client(protocols: client), trust.server(protocols: server), on: reactor)
      if !client.isEmpty {
        #expect(hands.client.error?.code == .protocolNotNegotiated)
        #expect(hands.client.error?.description.contains("wanted h2") == true)
      }
      if !server.isEmpty { #expect(hands.server.error?.code == .protocolNotNegotiated) }
    }
  }

  @Test("the server's order decides between several common protocols")
  func preference() async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let client = try trust.client(protocols: ["http/1.1", "h2"])
      let hands = try await shakeHands(client, try trust.server(protocols: ["h2", "http/1.1"]), on: reactor)
      #expect(try hands.client.get().negotiatedProtocol == "h2")
    }
  }

  @Test(
    "a server that says nothing is given up at the time limit, and one that does not speak TLS at once",
    arguments: [
      ("", .milliseconds(50), .timedOut), ("HTTP/1.1 400 Bad Request\r\n\r\n", .seconds(30), .protocolFailure),
    ]
      as [(String, Duration, TLSError.Code)])
  func otherServer(greeting: String, limit: Duration, code: TLSError.Code) async throws {
    try await onReactor { reactor in
      let sockets = try await socketPair(on: reactor)
      let context = try TestTrust().client()
      _ = Array(greeting.utf8).withUnsafeBytes { sockets.server.write($0) }
      await #expect {
        _ = try await TLSStream.connect(
          over: sockets.client, host: "localhost", context: context, within: limit, on: reactor)
      } throws: { ($0 as? TLSError)?.code == code }
      withExtendedLifetime(sockets.server) {}
    }
  }
}

@Suite("Client certificates")
struct ClientCertificateTests {
  @Test("a server that asks sees the certificate whose key the client holds, whoever issued it")
  func shown() async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let identity = try CertificateAuthority(name: "A stranger").issue(for: ["client"])
      let client = try TLSContext(
        trusting: .systemAnd(.text(trust.authority.certificate)), presenting: identity, protocols: ["h2"])
      let hands = try await shakeHands(client, try server(trust, asking: true), on: reactor)
      let certificate = try PEM.text(identity.certificate).certificatesAsDER()
      #expect(try hands.server.get().peerCertificate == certificate.first)
      #expect(certificate.count == 1)
    }
  }

  @Test("a client without one is let in as well, and nobody is seen unasked", arguments: [true, false])
  func notShown(isAsked: Bool) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let identity = isAsked ? nil : try trust.authority.issue(for: ["client"])
      let client = try TLSContext(
        trusting: .systemAnd(.text(trust.authority.certificate)), presenting: identity, protocols: ["h2"])
      let hands = try await shakeHands(client, try server(trust, asking: isAsked), on: reactor)
      #expect(try hands.server.get().peerCertificate == nil)
      #expect(try hands.client.get().peerCertificate != nil)
    }
  }

  private func server(_ trust: TestTrust, asking: Bool) throws -> TLSContext {
    let identity = try trust.authority.issue(for: ["localhost"])
    return try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: ["h2"], asksForCertificate: asking)
  }
}

/// The two ends of a TCP connection over the loopback interface.
func socketPair(on reactor: isolated Reactor) async throws -> (client: Socket, server: Socket) {
  guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure() }
  let listener = try ListeningSocket(on: address)
  let client = try await Socket.connect(to: listener.address, within: .seconds(30), on: reactor)
  _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(30))
  guard case .accepted(let server, _) = listener.accept() else { throw TestFailure() }
  return (client, server)
}

struct TestFailure: Error {}

/// How both sides' handshakes ended.
struct Handshake {
  let client: Result<TLSStream, TLSError>
  let server: Result<TLSStream, TLSError>
}

/// Shakes hands over a new connection.
func shakeHands(
  _ client: TLSContext, _ server: TLSContext, host: String = "localhost", on reactor: isolated Reactor
) async throws -> Handshake {
  let sockets = try await socketPair(on: reactor)
  let accepted = Accepted()
  reactor.start {
    accepted.result = await Result(awaiting: { () async throws(TLSError) in
      try await TLSStream.accept(over: sockets.server, context: server, within: .seconds(30), on: reactor)
    })
    accepted.done.signal(on: reactor)
  }
  let connected = await Result(awaiting: { () async throws(TLSError) in
    try await TLSStream.connect(over: sockets.client, host: host, context: client, within: .seconds(30), on: reactor)
  })
  _ = await accepted.done.wait(for: .seconds(10), on: reactor)
  guard let server = accepted.result else { throw TestFailure() }
  return Handshake(client: connected, server: server)
}

private final class Accepted {
  var result: Result<TLSStream, TLSError>?
  let done = Signal()
}

/// An authority, and contexts for it.
struct TestTrust {
  let authority: CertificateAuthority

  init(name: String = "Test authority") throws {
    authority = try CertificateAuthority(name: name)
  }

  func client(protocols: [String] = ["h2"]) throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: protocols)
  }

  func server(
    for hosts: [String] = ["localhost", "127.0.0.1"], validity: Range<Int> = -60..<3600, protocols: [String] = ["h2"]
  ) throws -> TLSContext {
    let identity = try authority.issue(for: hosts, validity: validity)
    return try TLSContext(certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
  }
}

extension Result where Failure == TLSError {
  var error: TLSError? {
    if case .failure(let error) = self { error } else { nil }
  }
}
