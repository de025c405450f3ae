import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("A pool of connections")
struct APNSPoolTests {
  @Test("a connection carries one push until APNs has taken one, then as many as it allows")
  func openingUp() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .wait }
      try apns.start(on: reactor)
      let client = try await apns.client()
      let attempts = Attempts()
      try attempts.send(20, over: client, on: reactor)
      try await apns.received(1, on: reactor)
      #expect(apns.requests.count == 1)
      apns.answer(apns.requests[0], 410, #"{"reason":"Unregistered"}"#, on: reactor)
      try await apns.received(20, on: reactor)
      for received in apns.requests[1...] { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
    }
  }

  @Test("a connection that is refused its first push is not opened up")
  func notOpenedUp() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .wait }
      try apns.start(on: reactor)
      let client = try await apns.client()
      let attempts = Attempts()
      try attempts.send(3, over: client, on: reactor)
      for number in 0..<3 {
        try await apns.received(number + 1, on: reactor)
        #expect(apns.requests.count == number + 1)
        apns.answer(apns.requests[number], 500, #"{"reason":"InternalServerError"}"#, on: reactor)
      }
      try await attempts.finished(on: reactor)
    }
  }

  /// Two connections of four streams, eight pushes under way on them and two that wait.
  private func pressed(
    _ body: @escaping @Sendable (ScriptedAPNs, APNSClient, Attempts, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.streamsMax = 4
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.connectionsMax = 2
        $0.growAfter = .zero
        $0.shrinkAfter = .milliseconds(20)
      }
      _ = await client.send(try PushRequest.make(99), to: .production, on: reactor)
      apns.reply = { $0.connectionNumber == 0 || apns.connections[1].openStreams > 1 ? .wait : .answer(200, "") }
      let attempts = Attempts()
      try attempts.send(11, over: client, on: reactor)
      try await attempts.finished(1, on: reactor)
      apns.reply = { _ in .wait }
      try await body(apns, client, attempts, reactor)
    }
  }

  @Test(
    "when the streams stay used up another connection is opened, the pushes go where the fewest are, and no third is")
  func growing() async throws {
    try await pressed { apns, client, attempts, reactor in
      try await apns.received(10, on: reactor)
      let unanswered = apns.requests[1...].filter { received in !apns.accepted.contains(received.identifier ?? "") }
      #expect(unanswered.count { $0.connectionNumber == 0 } == 4)
      #expect(unanswered.count { $0.connectionNumber == 1 } == 4)
      #expect(client.connections(to: .production) == 2)
      #expect(client.connectionsOpened(to: .production) == 2)
      apns.reply = { _ in .answer(200, "") }
      for received in unanswered { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 11)
    }
  }

  @Test("a connection that was not needed for long is closed, the last one stays")
  func shrinking() async throws {
    try await pressed { apns, client, attempts, reactor in
      try await apns.received(10, on: reactor)
      apns.reply = { _ in .answer(200, "") }
      for received in apns.requests { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(client.connections(to: .production) == 1)
      // Two periods more, in which the last one could go as well.
      await reactor.sleep(for: .milliseconds(40))
      #expect(client.connections(to: .production) == 1)
      #expect(await client.send(try PushRequest.make(98), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test("a lowered number of streams is kept to, and no reason for another connection")
  func lowered() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client { $0.growAfter = .zero }
      _ = await client.send(try PushRequest.make(99), to: .production, on: reactor)
      apns.reply = { received in
        if apns.requests.count == 2 { received.connection.announce([.streamsMax(1)], on: reactor) }
        return .answer(200, "")
      }
      let attempts = Attempts()
      for _ in 0..<5 {
        try attempts.send(20, over: client, on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(attempts.acceptedCount == 100)
      #expect(client.connectionsOpened(to: .production) == 1)
    }
  }

  @Test("a silent connection is left to itself: new pushes take another before it is given up")
  func silent() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.http2.silenceBeforePing = .milliseconds(30)
        $0.http2.pingLateAfter = .milliseconds(30)
        $0.http2.pingTimeout = .seconds(30)
      }
      _ = await client.send(try PushRequest.make(99), to: .production, on: reactor)
      apns.connections[0].fallSilent(on: reactor)
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      try await apns.opened(2, on: reactor)
      try attempts.send(5, over: client, on: reactor)
      try await attempts.finished(5, on: reactor)
      #expect(attempts.acceptedCount == 5)
      #expect(attempts.all[0] == nil)
      #expect(client.connections(to: .production) == 1)
      apns.connections[0].closeAbruptly(on: reactor)
      try await attempts.finished(on: reactor)
      guard case .failed(.unknown) = attempts.all[0] else { throw TestFailure("\(attempts.all)") }
    }
  }

  @Test("near the end of the stream ids a connection is replaced, and no push notices")
  func streamIDs() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client { $0.http2.streamIDMax = 9 }
      let attempts = Attempts()
      try attempts.send(15, over: client, on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 15)
      #expect(apns.requests.allSatisfy { $0.request.streamID <= 9 })
      #expect(client.connectionsOpened(to: .production) == 3)
    }
  }

  @Test("connections that end after each push are not opened in a loop")
  func budget() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .goAwayAndAnswer }
      try apns.start(on: reactor)
      let client = try await apns.client {
        $0.connectBurst = 3
        $0.connectInterval = .seconds(3600)
      }
      let attempts = Attempts()
      for _ in 0..<5 {
        try attempts.send(1, over: client, within: .milliseconds(200), on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(attempts.acceptedCount == 3)
      #expect(client.connectionsOpened(to: .production) == 3)
      client.close(on: reactor)
    }
  }
}
