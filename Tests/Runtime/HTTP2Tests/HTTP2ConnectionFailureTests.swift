import Reactors
import TestReactors
import Testing

@testable import HTTP2

@Suite("What a failure says about a request")
struct HTTP2ConnectionFailureTests {
  @Test("GOAWAY: requests above its last stream were not processed, the others are answered, then it closes")
  func goAway() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(10, over: exchange.client, on: reactor)
      try await exchange.server.received(10, on: reactor)
      let reason = Array(#"{"reason":"Shutdown"}"#.utf8)
      let last = exchange.server.requests[3].streamID
      exchange.server.connection.goAway(lastStreamID: last, debugData: reason, on: reactor)
      try await exchange.outcomes.arrived(6, on: reactor)
      let goAway = HTTP2GoAway(lastStreamID: last, code: .noError, debugData: reason)
      #expect(exchange.outcomes.notProcessed.values.allSatisfy { $0 == .goAway(goAway) })
      #expect(exchange.client.state == .draining(.goAway(goAway)))
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      for request in exchange.server.requests.prefix(4) { exchange.server.answer(request, on: reactor) }
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.keys.sorted() == [0, 1, 2, 3])
      #expect(exchange.outcomes.notProcessed.keys.sorted() == Array(4...10))
      #expect(try await exchange.log.closed(on: reactor) == .drained)
      #expect(exchange.log.states == [.draining(.goAway(goAway)), .closed(.drained)])
    }
  }

  @Test("a graceful shutdown in two steps keeps what was under way")
  func gracefulShutdown() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(3, over: exchange.client, on: reactor)
      try await exchange.server.received(3, on: reactor)
      exchange.server.connection.goAway(lastStreamID: .max, on: reactor)
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      try await exchange.outcomes.arrived(1, on: reactor)
      #expect(
        exchange.client.state == .draining(.goAway(HTTP2GoAway(lastStreamID: .max, code: .noError, debugData: []))))
      exchange.server.connection.goAway(lastStreamID: exchange.server.requests[1].streamID, on: reactor)
      try await exchange.outcomes.arrived(2, on: reactor)
      #expect(exchange.outcomes.notProcessed.keys.sorted() == [2])
      exchange.server.answer(exchange.server.requests[1], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.keys.sorted() == [0, 1])
      #expect(exchange.log.states.count == 3)
    }
  }

  @Test("GOAWAY with nothing on the wire closes the connection and keeps the reason")
  func goAwayAtRest() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      _ = await exchange.ask(HTTP2Request(path: "/"), on: reactor)
      let reason = Array(#"{"reason":"IdleTimeout"}"#.utf8)
      exchange.server.connection.goAway(debugData: reason, on: reactor)
      #expect(try await exchange.log.closed(on: reactor) == .drained)
      guard case .draining(.goAway(let goAway)) = exchange.log.states.first else { throw TestFailure() }
      #expect(goAway.debugData == reason)
      guard case .notProcessed(.notSent) = await exchange.ask(HTTP2Request(path: "/"), on: reactor) else {
        throw TestFailure()
      }
    }
  }

  @Test("GOAWAY followed by an abrupt close still tells which requests were not processed")
  func goAwayAndClose() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(4, over: exchange.client, on: reactor)
      try await exchange.server.received(4, on: reactor)
      exchange.server.connection.goAway(lastStreamID: exchange.server.requests[1].streamID, on: reactor)
      exchange.server.connection.flushNow(on: reactor)
      exchange.server.connection.closeAbruptly(on: reactor)
      // The client writes into the closed connection before it has read the GOAWAY.
      exchange.outcomes.send(50, over: exchange.client, body: [UInt8](repeating: 0, count: 60_000), on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown.keys.sorted() == [0, 1])
      #expect(exchange.outcomes.notProcessed.count == 52)
    }
  }

  @Test("REFUSED_STREAM: not processed, and the connection goes on")
  func refused() async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(2, over: exchange.client, on: reactor)
      try await exchange.server.received(2, on: reactor)
      exchange.server.connection.reset(exchange.server.requests[0].streamID, .refusedStream, on: reactor)
      try await exchange.outcomes.arrived(1, on: reactor)
      #expect(exchange.outcomes.notProcessed == [0: .refused])
      exchange.server.answer(exchange.server.requests[1], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.keys.sorted() == [1])
    }
  }

  @Test("any other reset leaves the request unknown", arguments: [HTTP2ErrorCode.internalError, .cancel, .noError])
  func reset(code: HTTP2ErrorCode) async throws {
    try await Exchange.run(answers: false) { exchange, reactor in
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      try await exchange.server.received(1, on: reactor)
      exchange.server.connection.reset(exchange.server.requests[0].streamID, code, on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown == [0: .reset(code)])
      #expect(exchange.client.state == .ready)
    }
  }

  @Test("an abrupt close leaves what was sent unknown, what was answered answered, and what waited unprocessed")
  func abruptClose() async throws {
    try await Exchange.run(answers: false, client: client(initialStreamsMax: 3), server: server(streamsMax: 3)) {
      exchange, reactor in
      exchange.outcomes.send(5, over: exchange.client, on: reactor)
      try await exchange.server.received(3, on: reactor)
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      exchange.server.connection.flushNow(on: reactor)
      exchange.server.connection.closeAbruptly(on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.keys.sorted() == [0])
      // The answer makes room for the fourth, which is sent if the client reads the one before the other.
      let unknown = exchange.outcomes.unknown.keys.sorted()
      #expect(unknown == [1, 2] || unknown == [1, 2, 3])
      #expect(exchange.outcomes.notProcessed.keys.sorted() == Array((unknown.count + 1)...4))
      #expect(exchange.outcomes.notProcessed.values.allSatisfy { $0 == .notSent })
    }
  }

  @Test("a server that has fallen silent is given up after a PING")
  func blackHole() async throws {
    try await Exchange.run(answers: false, client: impatient()) { exchange, reactor in
      exchange.outcomes.send(2, over: exchange.client, on: reactor)
      try await exchange.server.received(2, on: reactor)
      exchange.server.connection.fallSilent(on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown.values.allSatisfy { $0 == .connectionLost(.unresponsive) })
      #expect(exchange.outcomes.unknown.count == 2)
      #expect(exchange.log.states == [.closed(.unresponsive)])
      #expect(exchange.log.capacities == [.streams(1000), .suspect])
      exchange.server.connection.closeAbruptly(on: reactor)
    }
  }

  @Test("a slow server that answers PINGs is not given up; the request's own time limit ends it")
  func deadline() async throws {
    try await Exchange.run(answers: false, client: impatient()) { exchange, reactor in
      exchange.outcomes.send(1, over: exchange.client, within: .seconds(2), on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.unknown == [0: .deadline])
      #expect(exchange.client.state == .ready)
      exchange.server.answersAtOnce = true
      #expect(await exchange.ask(HTTP2Request(path: "/"), on: reactor).response?.status == 200)
      #expect(exchange.server.connection.openStreams == 0)
    }
  }

  @Test("a request whose time is over before it got a stream was not processed")
  func deadlineWhileWaiting() async throws {
    try await Exchange.run(answers: false, client: client(initialStreamsMax: 1), server: server(streamsMax: 1)) {
      exchange, reactor in
      exchange.outcomes.send(1, over: exchange.client, on: reactor)
      exchange.outcomes.send(2, over: exchange.client, within: .milliseconds(50), on: reactor)
      try await exchange.outcomes.arrived(2, on: reactor)
      #expect(exchange.outcomes.notProcessed == [1: .deadline, 2: .deadline])
      try await exchange.server.received(1, on: reactor)
      exchange.server.answer(exchange.server.requests[0], on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.server.requests.count == 1)
    }
  }

  @Test("a request whose time is over is not sent, though a stream is free and its timer waits for many others")
  func deadlinePassed() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      // More than fire in one tick.
      for _ in 0..<1000 { reactor.schedule(after: .zero, IgnoredTimer()) }
      guard case .notProcessed(.deadline) = await exchange.ask(HTTP2Request(path: "/late"), within: .zero, on: reactor)
      else { throw TestFailure() }
      #expect(await exchange.ask(HTTP2Request(path: "/"), on: reactor).response?.status == 200)
      #expect(exchange.server.requests.map(\.path) == ["/"])
    }
  }

  @Test("header fields that nghttp2 declines to send were not processed, and the connection goes on")
  func declined() async throws {
    try await Exchange.run(answers: true) { exchange, reactor in
      var request = HTTP2Request(path: "/", body: [1])
      request.fields.append("x-large", String(repeating: "a", count: 100_000))
      guard case .notProcessed(.notSent) = await exchange.ask(request, on: reactor) else { throw TestFailure() }
      #expect(await exchange.ask(HTTP2Request(path: "/"), on: reactor).response?.status == 200)
      #expect(exchange.client.openStreams == 0)
    }
  }

  @Test("near the end of the stream ids the connection drains")
  func streamIDs() async throws {
    try await onReactor { reactor in
      var client = HTTP2ClientConfiguration()
      client.firstStreamID = client.streamIDMax - 2
      let exchange = try await Exchange.start(answers: true, client: client, on: reactor)
      exchange.outcomes.send(5, over: exchange.client, on: reactor)
      try await exchange.outcomes.arrived(on: reactor)
      #expect(exchange.outcomes.responses.keys.sorted() == [0, 1])
      #expect(exchange.outcomes.notProcessed == [2: .notSent, 3: .notSent, 4: .notSent])
      #expect(exchange.log.states == [.draining(.streamIDsExhausted), .closed(.drained)])
    }
  }

  private func impatient() -> HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration()
    configuration.silenceBeforePing = .milliseconds(50)
    configuration.pingLateAfter = .milliseconds(50)
    configuration.pingTimeout = .seconds(1)
    return configuration
  }
}

private final class IgnoredTimer: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {}
}
