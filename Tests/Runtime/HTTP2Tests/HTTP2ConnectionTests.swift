import Glibc
import HTTP2
import Reactors
import TestProcesses
import TestReactors
import Testing

@Suite("A client connection")
struct HTTP2ConnectionTests {
  @Test("a request and its response arrive whole, duplicate fields in their order")
  func roundTrip() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      var request = HTTP2Request(method: "PUT", path: "/3/device/abc", body: Array("hello".utf8))
      request.fields = ["authorization": "bearer secret", "x-two": "1", "x-two": "2", "x-empty": ""]
      let response = try #require(await exchange.ask(request, on: reactor).response)
      #expect(response.status == 200)
      #expect(response.fields["x-path"] == "/3/device/abc")
      #expect(response.body == Array("hello".utf8))
      let received = try #require(exchange.server.requests.first)
      #expect(received.method == "PUT")
      #expect(received.path == "/3/device/abc")
      #expect(received.authority.hasPrefix("127.0.0.1:"))
      #expect(received.fields == request.fields)
      #expect(received.arrival <= Reactor.now)
    }
  }

  @Test("a thousand requests at once are answered without a job from another thread")
  func thousand() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      let before = reactor.executor.jobsFromOtherThreads
      exchange.outcomes.send(1000, over: exchange.client, body: Array("{}".utf8), on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 1000)
      for (number, response) in exchange.outcomes.responses { #expect(response.fields["x-path"] == "/\(number)") }
      #expect(reactor.executor.jobsFromOtherThreads == before)
      #expect(exchange.client.openStreams == 0)
    }
  }

  @Test("bodies of 64 KiB travel both ways")
  func largeBodies() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      let body = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 5) }
      exchange.outcomes.send(50, over: exchange.client, body: body, on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.values.filter { $0.body == body }.count == 50)
    }
  }

  @Test(
    "a response or header fields over the limit are cancelled, and the connection goes on", arguments: [true, false])
  func giant(isBody: Bool) async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      var fields = HTTP2Fields()
      if !isBody { for number in 0..<20 { fields.append("x-\(number)", String(repeating: "a", count: 1000)) } }
      exchange.server.connection.respond(
        to: exchange.server.requests[0].streamID, status: 200, fields: fields,
        body: [UInt8](repeating: 0, count: isBody ? 1 << 20 : 0), on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown == [0: .responseTooLarge])
      exchange.server.answersAtOnce = true
      #expect(await exchange.ask(HTTP2Request(path: "/"), on: reactor).response?.status == 200)
    }
  }

  @Test("a request's body over the server's limit is cut, and its length told")
  func longRequest() async throws {
    try await onReactor { reactor in
      var configuration = HTTP2ServerConfiguration()
      configuration.requestBodyBytesMax = 100
      let exchange = try await Exchange.start(answers: true, server: configuration, on: reactor)
      let request = HTTP2Request(path: "/", body: [UInt8](repeating: 7, count: 5000))
      let outcome = await exchange.ask(request, on: reactor)
      #expect(outcome.response?.body.count == 100, "\(outcome)")
      #expect(exchange.server.requests.map(\.bodyBytesReceived) == [5000])
    }
  }

  @Test("draining lets the requests on the wire finish, and then closes")
  func drain() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(2, over: exchange.client, on: reactor)
      try await exchange.server.received(2, on: reactor)
      exchange.client.drain(on: reactor)
      guard case .notProcessed(.notSent) = await exchange.ask(HTTP2Request(path: "/late"), on: reactor) else {
        throw TestFailure()
      }
      for request in exchange.server.requests { exchange.server.answer(request, on: reactor) }
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 2)
      #expect(try await exchange.log.closed(on: reactor) == .drained)
      #expect(exchange.log.states == [.draining(.requested), .closed(.drained)])
      try await exchange.server.closed(on: reactor)
    }
  }

  @Test("closing leaves the requests on the wire unknown, and the waiting ones unprocessed")
  func close() async throws {
    try await Exchange.run(answers: false, client: client(initialStreamsMax: 1), server: server(streamsMax: 1)) {
      exchange, reactor in
      exchange.outcomes.send(3, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      exchange.client.close(on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown == [0: .connectionLost(.closedLocally)])
      #expect(exchange.outcomes.notProcessed == [1: .notSent, 2: .notSent])
      try await exchange.server.closed(on: reactor)
    }
  }
}

@Suite("How many streams a client opens")
struct HTTP2ConnectionStreamsTests {
  @Test("the server's limit is kept, and raising it lets the waiting requests go")
  func limit() async throws {
    try await Exchange.run(answers: false, client: client(initialStreamsMax: 1), server: server(streamsMax: 1)) {
      exchange, reactor in
      exchange.outcomes.send(1000, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      #expect(exchange.client.openStreams == 1)
      #expect(exchange.client.waitingRequests == 999)
      exchange.server.answersAtOnce = true
      exchange.server.connection.announce([.streamsMax(1000)], on: reactor)
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 1000)
      #expect(exchange.server.connection.refusedStreams == 0)
      #expect(exchange.client.streamsMax == 1000)
      #expect(exchange.server.mostOpenStreams > 1)
    }
  }

  @Test("of many requests in one tick, the first are on their way before its end")
  func bursts() async throws {
    try await Exchange.run(answers: true, client: client(initialStreamsMax: 1000), server: server(streamsMax: 1000)) {
      exchange, reactor in
      exchange.outcomes.send(70, over: exchange.client, body: Array(repeating: 0, count: 300), on: reactor)
      var ticks = reactor.ticks
      var open = 0
      reactor.start {
        // Behind the requests in the same queue.
        ticks -= reactor.ticks
        open = exchange.client.openStreams
      }
      try await exchange.outcomes.arrived(on: reactor)
      #expect(ticks == 0)
      #expect(open == 64)
      #expect(exchange.outcomes.responses.count == 70)
      #expect(exchange.server.requests.map(\.path) == (0..<70).map { "/\($0)" })
    }
  }

  @Test("a limit that falls is kept for new requests")
  func fallingLimit() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(3, over: exchange.client, on: reactor)
      try await exchange.server.received(3, on: reactor)
      exchange.server.connection.announce([.streamsMax(1)], on: reactor)
      for request in exchange.server.requests { exchange.server.answer(request, on: reactor) }
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.client.streamsMax == 1)
      exchange.outcomes.send(20, over: exchange.client, on: reactor)
      exchange.server.answersAtOnce = true
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 23)
      #expect(exchange.server.connection.refusedStreams == 0)
    }
  }

  @Test("streams over the limit, opened before it was known, are refused and provably not processed")
  func overshoot() async throws {
    try await Exchange.run(answers: false, client: client(initialStreamsMax: 100), server: server(streamsMax: 1)) {
      exchange, reactor in
      exchange.outcomes.send(10, over: exchange.client, body: [1], on: reactor)
      try await exchange.outcomes.arrived(9, on: reactor)
      #expect(exchange.outcomes.notProcessed.values.filter { $0 == .refused }.count == 9)
      #expect(exchange.server.requests.map(\.path) == ["/0"])
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 1)
      #expect(exchange.client.state == .ready)
    }
  }

  @Test("the owner is told of every number of streams that the server allows")
  func capacity() async throws {
    try await Exchange.run(answers: true, server: server(streamsMax: 1)) { exchange, reactor in
      try await exchange.log.heard(.streams(1), on: reactor)
      _ = await exchange.ask(HTTP2Request(path: "/"), on: reactor)
      exchange.server.connection.announce([.streamsMax(7)], on: reactor)
      try await exchange.log.heard(.streams(7), on: reactor)
      #expect(exchange.log.capacities == [.streams(1), .streams(7)])
    }
  }

  @Test("when as many requests wait as may, the next is refused at once")
  func queueFull() async throws {
    try await onReactor { reactor in
      var client = client(initialStreamsMax: 1)
      client.waitingRequestsMax = 3
      let exchange = try await Exchange.start(
        answers: false, client: client, server: server(streamsMax: 1), on: reactor)
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      exchange.outcomes.send(4, over: exchange.client, on: reactor)
      try await exchange.outcomes.arrived(1, on: reactor)
      #expect(exchange.outcomes.notProcessed == [4: .queueFull])
      exchange.server.answersAtOnce = true
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.count == 4)
      #expect(exchange.server.requests.map(\.path) == ["/0", "/1", "/2", "/3"])
    }
  }
}

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
      let port = try reservedPort()
      await #expect {
        _ = try await HTTP2Connection.connect(
          host: "127.0.0.1", port: port, context: server.trusting(), within: .seconds(30), on: reactor)
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
  private let listener: ListeningSocket
  private var streams: [TLSStream] = []
  let port: UInt16

  init(protocols: [String]) throws {
    authority = try CertificateAuthority(name: "Test authority")
    let identity = try authority.issue(for: ["127.0.0.1"])
    context = try TLSContext(
      certificate: .text(identity.certificate), key: .text(identity.key), protocols: protocols)
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure() }
    listener = try ListeningSocket(on: address)
    port = listener.address.port
  }

  func trusting() throws -> TLSContext {
    try TLSContext(trusting: .systemAnd(.text(authority.certificate)), protocols: ["h2"])
  }

  func connect(
    host: String = "127.0.0.1", observer: StateLog? = nil, within limit: Duration = .seconds(30),
    on reactor: isolated Reactor
  ) async throws -> HTTP2Connection {
    try await HTTP2Connection.connect(
      host: host, port: port, context: trusting(), observer: observer, within: limit, on: reactor)
  }

  /// Takes one connection, and says something after the handshake.
  func acceptOne(saying text: String = "", on reactor: isolated Reactor) {
    reactor.start { [self] in
      _ = try? await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(30))
      guard case .accepted(let socket, _) = listener.accept() else { return }
      let stream = try? await TLSStream.accept(over: socket, context: context, within: .seconds(30), on: reactor)
      guard let stream else { return }
      _ = Array(text.utf8).withUnsafeBytes { stream.write($0) }
      streams.append(stream)
    }
  }
}
