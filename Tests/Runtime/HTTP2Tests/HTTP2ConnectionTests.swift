import HTTP2
import Reactors
import TestReactors
import Testing

@Suite("A client connection")
struct HTTP2ConnectionTests {
  @Test("a request and its response arrive whole, duplicate fields in their order")
  func roundTrip() async throws {
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: true, on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: true, on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: true, on: reactor)
      let body = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 5) }
      exchange.outcomes.send(50, over: exchange.client, body: body, on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.values.filter { $0.body == body }.count == 50)
    }
  }

  @Test("a response over the limit is cancelled, and the connection goes on")
  func giantResponse() async throws {
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: false, on: reactor)
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      let giant = [UInt8](repeating: 0, count: 1 << 20)
      exchange.server.connection.respond(
        to: exchange.server.requests[0].streamID, status: 200, body: giant, on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown == [0: .responseTooLarge])
      exchange.server.answersAtOnce = true
      #expect(await exchange.ask(HTTP2Request(path: "/"), on: reactor).response?.status == 200)
    }
  }

  @Test("header fields over the limit are refused, and the connection goes on")
  func giantFields() async throws {
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: false, on: reactor)
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      var fields = HTTP2Fields()
      for number in 0..<20 { fields.append("x-\(number)", String(repeating: "a", count: 1000)) }
      exchange.server.connection.respond(
        to: exchange.server.requests[0].streamID, status: 200, fields: fields, on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: false, on: reactor)
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
    try await onReactor { reactor in
      var configuration = HTTP2ServerConfiguration()
      configuration.streamsMax = 1
      var client = HTTP2ClientConfiguration()
      client.initialStreamsMax = 1
      let exchange = try await Exchange.start(
        answers: false, client: client, server: configuration, on: reactor)
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
