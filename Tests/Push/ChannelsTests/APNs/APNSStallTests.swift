import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("A pool whose link stalls now and then")
struct APNSStallTests {
  /// A client that has sent one push, and suspects a connection after a few milliseconds of silence.
  private func suspicious(of apns: ScriptedAPNs, on reactor: isolated Reactor) async throws -> APNSClient {
    let client = try await apns.client {
      $0.http2.silenceBeforePing = .milliseconds(20)
      $0.http2.pingLateAfter = .milliseconds(20)
      $0.http2.pingTimeout = .seconds(30)
    }
    _ = await client.send(try PushRequest.make(99), to: .production, on: reactor)
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
      #expect(await client.send(try PushRequest.make(98), to: .production, on: reactor).disposition == .accepted)
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
      _ = try await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(5))
      guard case .accepted(let socket, _) = listener.accept() else { throw TestFailure("no connection") }
      #expect(client.connections(to: .production) == 0)
      apns.answer(apns.requests[1], on: reactor)
      try await attempts.finished(on: reactor)
      #expect(client.connections(to: .production) == 1)
      let context = try apns.serverContext(protocols: ["h2"])
      _ = try await TLSStream.accept(over: socket, context: context, within: .seconds(5), on: reactor)
      while client.connectionsOpened(to: .production) == 1 { await reactor.sleep(for: .milliseconds(1)) }
      #expect(client.connections(to: .production) == 1)
      #expect(client.pools[.production]?.links.map(\.answers) == [2])
    }
  }
}
