import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("The connections to APNs")
struct APNSConnectionsTests {
  @Test("warming up opens the connection before the first push")
  func warmUp() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      #expect(!client.isConnected(to: .production))
      for _ in 0..<3 { client.warmUp(.production, on: reactor) }
      #expect(await client.send(try APNSRequest.make(), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 1)
    }
  }

  @Test("a refused connection is not processed within the limit, is named, and recovers when somebody listens")
  func refused() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      apns.stop(on: reactor)
      let client = try await apns.client()
      let start = Reactor.now
      let attempt = await client.send(
        try APNSRequest.make(), to: .production, within: .milliseconds(500), on: reactor)
      #expect(attempt.isNotProcessed)
      // The last tenth is left to the answer.
      #expect(Reactor.now - start >= 450_000_000)
      #expect(client.failure(of: .production) != nil)
      try apns.start(on: reactor)
      try await accepted(by: client, on: reactor)
      #expect(client.failure(of: .production) == nil)
      client.close(on: reactor)
    }
  }

  /// Sends until a push is accepted: the next connect waits for a second or two.
  private func accepted(by client: APNSClient, on reactor: isolated Reactor) async throws {
    for number in 0..<100 {
      let attempt = await client.send(
        try APNSRequest.make(number), to: .production, within: .milliseconds(100), on: reactor)
      if attempt.disposition == .accepted { return }
      // The connection may come up just before the limit, which then leaves the answer no time.
      #expect(attempt.disposition == .retryLater(minimumWait: .zero))
    }
    throw TestFailure("not connected again")
  }

  @Test("a server whose authority nobody knows is refused, and hears of no push")
  func wrongAuthority() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client(believing: ScriptedAPNs())
      let attempt = await client.send(try APNSRequest.make(), to: .production, within: .seconds(2), on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(client.failure(of: .production)?.contains("certificate") == true)
      #expect(!client.isConnected(to: .production))
      #expect(apns.requests.isEmpty)
      client.close(on: reactor)
    }
  }

  @Test("a server without h2 is not processed")
  func withoutHTTP2() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure("no address") }
      let listener = try ListeningSocket(on: address)
      let context = try apns.serverContext(protocols: ["http/1.1"])
      reactor.start {
        _ = try? await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(30))
        guard case .accepted(let socket, _) = listener.accept() else { return }
        _ = try? await TLSStream.accept(over: socket, context: context, within: .seconds(30), on: reactor)
      }
      let client = try await apns.client(port: listener.address.port)
      let attempt = await client.send(try APNSRequest.make(), to: .production, within: .seconds(2), on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(client.failure(of: .production) != nil)
      client.close(on: reactor)
    }
  }

  @Test("a connection that ends before APNs ever answered on it counts as a failed connect")
  func endsAtOnce() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .closeAbruptly }
      try await apns.connected(client, on: reactor)
      let attempts = Attempts()
      for _ in 0..<3 {
        // The next connect waits for half a second at least.
        try attempts.send(1, over: client, within: .milliseconds(50), on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(client.connectionsOpened(to: .production) == 1)
      client.close(on: reactor)
    }
  }

  @Test("a closed client waits for the answers it is owed, and sends nothing more")
  func close() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .wait }
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      try await apns.received(1, on: reactor)
      client.close(on: reactor)
      #expect(await client.send(try APNSRequest.make(9), to: .production, on: reactor).isNotProcessed)
      apns.answer(apns.requests[0], on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 1)
      try await apns.closed(1, on: reactor)
      #expect(apns.connections.count == 1)
      #expect(!client.isConnected(to: .production))
    }
  }

  @Test("pushes that wait for a connection give up when the client is closed")
  func closeWhileWaiting() async throws {
    try await onReactor { reactor in
      let client = try await ScriptedAPNs().client()
      let attempts = Attempts()
      try attempts.send(3, over: client, on: reactor)
      await reactor.sleep(for: .milliseconds(1))
      let start = Reactor.now
      client.close(on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.all.values.count { $0.isNotProcessed } == 3)
      #expect(Reactor.now - start < 5_000_000_000)
    }
  }

  @Test("a connection that comes up after the client was closed is closed as well")
  func closeWhileConnecting() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      client.warmUp(.production, on: reactor)
      // The task of the connect has begun and its handshake cannot have ended.
      await reactor.sleep(for: .zero)
      client.close(on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(!client.isConnected(to: .production))
    }
  }
}

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
        let attempt = await client.send(try APNSRequest.make(number), to: .production, on: reactor)
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
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      apns.connections[0].goAway(debugData: Array(#"{"reason":"IdleTimeout"}"#.utf8), on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(!client.isConnected(to: .production))
      #expect(client.isReady(for: .production))
      #expect(client.failure(of: .production) == nil)
      #expect(await client.send(try APNSRequest.make(1), to: .production, on: reactor).disposition == .accepted)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test(
    "any other GOAWAY is followed by another connection without waiting for a push",
    arguments: [#"{"reason":"Shutdown"}"#, "", "Maximum active streams violated for this endpoint."])
  func reconnecting(debug: String) async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      apns.connections[0].goAway(.refusedStream, debugData: Array(debug.utf8), on: reactor)
      try await apns.opened(2, on: reactor)
      #expect(await client.send(try APNSRequest.make(1), to: .production, on: reactor).disposition == .accepted)
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
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
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
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      let link = try #require(client.pools[.production]?.links.first)
      apns.reply = {
        $0.connectionNumber == 0 ? .answer(429, #"{"reason":"TooManyProviderTokenUpdates"}"#) : .answer(200, "")
      }
      _ = await client.send(try APNSRequest.make(1), to: .production, on: reactor)
      #expect(client.connectionsOpened(to: .production) == 1)
      link.token = ShownToken(.aged(1300), now: Reactor.now &- 1300 * 1_000_000_000)
      let attempt = await client.send(try APNSRequest.make(2), to: .production, on: reactor)
      #expect(attempt.reason == "TooManyProviderTokenUpdates")
      #expect(await client.send(try APNSRequest.make(2), to: .production, on: reactor).disposition == .accepted)
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
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .refuse(reason, date: date) }
      for number in 0..<3 { _ = await client.send(try APNSRequest.make(number), to: .production, on: reactor) }
      let words = client.failure(of: .production) ?? ""
      #expect(Set(apns.requests.compactMap { $0.request.fields["authorization"] }).count == 1)
      #expect(client.connectionsOpened(to: .production) == 1)
      apns.reply = { _ in .answer(200, "") }
      _ = await client.send(try APNSRequest.make(9), to: .production, on: reactor)
      #expect(client.failure(of: .production) == nil)
      return words
    }
  }
}

@Suite("A pool whose link stalls now and then")
struct APNSStallTests {
  /// A client that has sent one push, and suspects a connection after a few milliseconds of silence.
  private func suspicious(of apns: ScriptedAPNs, on reactor: isolated Reactor) async throws -> APNSClient {
    let client = try await apns.client {
      $0.http2.silenceBeforePing = .milliseconds(20)
      $0.http2.pingLateAfter = .milliseconds(20)
      $0.http2.pingTimeout = .seconds(30)
    }
    _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
    apns.reply = { _ in .wait }
    apns.connections[0].acknowledgesPings = false
    return client
  }

  @Test("has one connection again after each stall, the one with the pushes")
  func stalls() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await suspicious(of: apns, on: reactor)
      let attempts = Attempts()
      for stall in 1...4 {
        try attempts.send(1, over: client, on: reactor)
        try await apns.received(1 + stall, on: reactor)
        #expect(apns.requests[stall].connectionNumber == 0)
        while client.connectionsOpened(to: .production) == stall { await reactor.sleep(for: .milliseconds(1)) }
        #expect(client.connections(to: .production) == 1)
        apns.answer(apns.requests[stall], on: reactor)
        try await attempts.finished(on: reactor)
        try await apns.closed(stall, on: reactor)
        #expect(client.connections(to: .production) == 1)
      }
      #expect(attempts.acceptedCount == 4)
    }
  }

  @Test("closes the youngest after its answers when all have pushes")
  func busySurplus() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await suspicious(of: apns, on: reactor)
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      while client.connectionsOpened(to: .production) == 1 { await reactor.sleep(for: .milliseconds(1)) }
      try attempts.send(1, over: client, on: reactor)
      try await apns.received(3, on: reactor)
      #expect(apns.requests.map(\.connectionNumber) == [0, 0, 1])
      apns.answer(apns.requests[1], on: reactor)
      try await attempts.finished(1, on: reactor)
      #expect(client.connections(to: .production) == 1)
      #expect(apns.closedConnections == 0)
      apns.answer(apns.requests[2], on: reactor)
      try await apns.closed(1, on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 2)
      apns.reply = { _ in .answer(200, "") }
      #expect(await client.send(try APNSRequest.make(98), to: .production, on: reactor).disposition == .accepted)
      #expect(apns.requests[3].connectionNumber == 0)
    }
  }

  @Test("closes a connection that comes up after the stalled one is back")
  func backMeanwhile() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await suspicious(of: apns, on: reactor)
      apns.stop(on: reactor)
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: apns.port))
      let listener = try ListeningSocket(on: address)
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(30))
      guard case .accepted(let socket, _) = listener.accept() else { throw TestFailure("no connection") }
      #expect(client.connections(to: .production) == 0)
      apns.answer(apns.requests[1], on: reactor)
      try await attempts.finished(on: reactor)
      #expect(client.connections(to: .production) == 1)
      let context = try apns.serverContext(protocols: ["h2"])
      _ = try await TLSStream.accept(over: socket, context: context, within: .seconds(30), on: reactor)
      while client.connectionsOpened(to: .production) == 1 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(client.connections(to: .production) == 1)
      #expect(client.pools[.production]?.links.map(\.answers) == [2])
    }
  }
}
