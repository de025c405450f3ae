import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("What follows the end of a connection, and a refusal of the token")
struct APNSConnectionsEndingTests {
  @Test(
    "a GOAWAY about credentials stops the pool: pushes are refused with its reason, and nothing is opened in a loop")
  func configurationFault() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.greeting = #"{"reason":"BadCertificateEnvironment"}"#
      try apns.start(on: reactor)
      let client = try await apns.client { $0.connectionWait = .seconds(60) }
      for number in 0..<3 {
        let attempt = await client.send(try PushRequest.make(number), to: .production, on: reactor)
        #expect(attempt == .refused("BadCertificateEnvironment"))
      }
      #expect(apns.connections.count == 1)
      #expect(apns.requests.isEmpty)
      #expect(!client.isReady(for: .production))
      #expect(client.failure(of: .production)?.contains("BadCertificateEnvironment") == true)
      client.close(on: reactor)
    }
  }

  @Test("a connection that APNs found idle is opened again by the next push, and nothing is wrong meanwhile")
  func idle() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      _ = await client.send(try PushRequest.make(), to: .production, on: reactor)
      apns.connections[0].goAway(debugData: Array(#"{"reason":"IdleTimeout"}"#.utf8), on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(!client.isConnected(to: .production))
      #expect(client.isReady(for: .production))
      #expect(client.failure(of: .production) == nil)
      #expect(await client.send(try PushRequest.make(1), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test(
    "any other GOAWAY is followed by another connection without waiting for a push",
    arguments: [#"{"reason":"Shutdown"}"#, "", "Maximum active streams violated for this endpoint."])
  func reconnecting(debug: String) async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      _ = await client.send(try PushRequest.make(), to: .production, on: reactor)
      apns.connections[0].goAway(.refusedStream, debugData: Array(debug.utf8), on: reactor)
      try await apns.opened(2, on: reactor)
      #expect(await client.send(try PushRequest.make(1), to: .production, on: reactor).disposition == .accepted)
    }
  }

  @Test("a pool that comes back takes one push, then sixteen, then twice as many")
  func slowStart() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      apns.stop(on: reactor)
      apns.reply = { _ in .wait }
      let client = try await apns.client { $0.connectionWait = .seconds(10) }
      let attempts = Attempts()
      try attempts.send(100, over: client, on: reactor)
      while client.failure(of: .production) == nil { await reactor.sleep(for: .milliseconds(1)) }
      try apns.start(on: reactor)
      for round in [1, 16, 32, 51] {
        let answered = apns.accepted.count
        try await apns.received(answered + round, on: reactor)
        #expect(apns.requests.count == answered + round)
        for received in apns.requests[answered...] { apns.answer(received, on: reactor) }
      }
      try await attempts.finished(on: reactor)
    }
  }

  @Test("an orderly GOAWAY is no outage: what it hands back goes on together, after the first")
  func noSlowStart() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      _ = await client.send(try PushRequest.make(99), to: .production, on: reactor)
      apns.reply = { _ in .wait }
      let attempts = Attempts()
      try attempts.send(40, over: client, on: reactor)
      try await apns.received(41, on: reactor)
      apns.connections[0].goAway(lastStreamID: 1, on: reactor)
      try await apns.received(42, on: reactor)
      apns.answer(apns.requests[41], on: reactor)
      try await apns.received(81, on: reactor)
      for received in apns.requests[42...] { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 40)
    }
  }

  @Test("a connection that APNs finds showing too many tokens is replaced, if it has shown more than one")
  func tokenUpdates() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      _ = await client.send(try PushRequest.make(), to: .production, on: reactor)
      let link = try #require(client.pools[.production]?.links.first)
      apns.reply = {
        $0.connectionNumber == 0 ? .answer(429, #"{"reason":"TooManyProviderTokenUpdates"}"#) : .answer(200, "")
      }
      _ = await client.send(try PushRequest.make(1), to: .production, on: reactor)
      #expect(client.connectionsOpened(to: .production) == 1)
      link.token = ShownToken(.aged(1300), now: Reactor.now &- 1300 * 1_000_000_000)
      let attempt = await client.send(try PushRequest.make(2), to: .production, on: reactor)
      #expect(attempt.reason == "TooManyProviderTokenUpdates")
      #expect(await client.send(try PushRequest.make(2), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test("a fresh token called expired is kept, and an operator reads by how much the clock is wrong")
  func clockBehind() async throws {
    let words = try await words(for: "ExpiredProviderToken", date: "Tue, 31 Dec 2999 00:00:00 GMT")
    #expect(words.contains("expired") && words.contains("s behind that of APNs"))
  }

  @Test("an invalid token is told together with a clock that is ahead")
  func clockAhead() async throws {
    let words = try await words(for: "InvalidProviderToken", date: "Sat, 01 Jan 2000 00:00:00 GMT")
    #expect(words.contains("InvalidProviderToken") && words.contains("s ahead of that of APNs"))
  }

  /// What an operator reads after a refusal; three pushes show one token, and the next success ends it.
  private func words(for reason: String, date: String) async throws -> String {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .refuse(reason, date: date) }
      try apns.start(on: reactor)
      let client = try await apns.client()
      for number in 0..<3 { _ = await client.send(try PushRequest.make(number), to: .production, on: reactor) }
      let words = client.failure(of: .production) ?? ""
      #expect(Set(apns.requests.compactMap { $0.request.fields["authorization"] }).count == 1)
      #expect(client.connectionsOpened(to: .production) == 1)
      apns.reply = { _ in .answer(200, "") }
      _ = await client.send(try PushRequest.make(9), to: .production, on: reactor)
      #expect(client.failure(of: .production) == nil)
      return words
    }
  }
}
