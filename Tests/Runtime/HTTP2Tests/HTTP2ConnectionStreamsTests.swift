import HTTP2
import Reactors
import TestReactors
import Testing

@Suite("How many streams a client opens")
struct HTTP2ConnectionStreamsTests {
  @Test("the server's limit is kept, and raising it lets the waiting requests go")
  func limit() async throws {
    try await onReactor { reactor in
      let exchange = try await Exchange.start(
        answers: false, client: client(initialStreamsMax: 1), server: server(streamsMax: 1), on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(
        answers: true, client: client(initialStreamsMax: 1000), server: server(streamsMax: 1000), on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: false, on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(
        answers: false, client: client(initialStreamsMax: 100), server: server(streamsMax: 1), on: reactor)
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
    try await onReactor { reactor in
      let exchange = try await Exchange.start(answers: true, server: server(streamsMax: 1), on: reactor)
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

private func client(initialStreamsMax: Int) -> HTTP2ClientConfiguration {
  var configuration = HTTP2ClientConfiguration()
  configuration.initialStreamsMax = initialStreamsMax
  return configuration
}

private func server(streamsMax: Int) -> HTTP2ServerConfiguration {
  var configuration = HTTP2ServerConfiguration()
  configuration.streamsMax = streamsMax
  return configuration
}
