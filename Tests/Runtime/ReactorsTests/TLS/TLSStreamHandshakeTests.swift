import Reactors
import TestReactors
import Testing

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

  @Test("a certificate for another host is refused", arguments: ["example.test", "127.0.0.2"])
  func otherHost(host: String) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let hands = try await shakeHands(try trust.client(), try trust.server(), host: host, on: reactor)
      #expect(hands.client.error?.code == .certificateRefused)
      #expect(hands.client.error?.verification?.contains("mismatch") == true)
    }
  }

  @Test(
    "a certificate outside its time is refused",
    arguments: [(-7200..<(-3600), "certificate has expired"), (3600..<7200, "certificate is not yet valid")])
  func validity(range: Range<Int>, text: String) async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let hands = try await shakeHands(try trust.client(), try trust.server(validity: range), on: reactor)
      #expect(hands.client.error?.code == .certificateRefused)
      #expect(hands.client.error?.verification == text)
    }
  }

  @Test("without a common application protocol both sides fail and say so")
  func noOverlap() async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let server = try trust.server(protocols: ["http/1.1"])
      let hands = try await shakeHands(try trust.client(), server, on: reactor)
      #expect(hands.client.error?.code == .protocolNotNegotiated)
      #expect(hands.client.error?.description.contains("wanted h2") == true)
      #expect(hands.server.error?.code == .protocolNotNegotiated)
    }
  }

  @Test("a peer that knows no application protocols is refused by the side that wants one")
  func noALPN() async throws {
    try await onReactor { reactor in
      let trust = try TestTrust()
      let deaf = try await shakeHands(try trust.client(), try trust.server(protocols: []), on: reactor)
      #expect(deaf.client.error?.code == .protocolNotNegotiated)
      let mute = try await shakeHands(try trust.client(protocols: []), try trust.server(), on: reactor)
      #expect(mute.server.error?.code == .protocolNotNegotiated)
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

  @Test("a server that says nothing is given up at the time limit")
  func silentServer() async throws {
    try await onReactor { reactor in
      let sockets = try await socketPair(on: reactor)
      let context = try TestTrust().client()
      await #expect {
        _ = try await TLSStream.connect(
          over: sockets.client, host: "localhost", context: context, within: .milliseconds(50), on: reactor)
      } throws: { ($0 as? TLSError)?.code == .timedOut }
      withExtendedLifetime(sockets.server) {}
    }
  }

  @Test("a server that does not speak TLS is a protocol failure")
  func plainServer() async throws {
    try await onReactor { reactor in
      let sockets = try await socketPair(on: reactor)
      let context = try TestTrust().client()
      _ = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).withUnsafeBytes { sockets.server.write($0) }
      await #expect {
        _ = try await TLSStream.connect(
          over: sockets.client, host: "localhost", context: context, within: .seconds(5), on: reactor)
      } throws: { ($0 as? TLSError)?.code == .protocolFailure }
    }
  }
}
