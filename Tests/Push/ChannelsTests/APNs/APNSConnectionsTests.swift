import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("The connections to APNs")
struct APNSConnectionsTests {
  /// A port that nobody listens on.
  private static func unusedPort() throws -> UInt16 {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else { throw TestFailure("no address") }
    return try ListeningSocket(on: address).address.port
  }

  @Test("warming up opens the connection before the first push")
  func warmUp() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      #expect(!client.isConnected(to: .production))
      for _ in 0..<3 { client.warmUp(.production, on: reactor) }
      #expect(await client.send(try PushRequest.make(), to: .production, on: reactor).disposition == .accepted)
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
        try PushRequest.make(), to: .production, within: .milliseconds(100), on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(Reactor.now - start >= 100_000_000)
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
        try PushRequest.make(number), to: .production, within: .milliseconds(100), on: reactor)
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
      let attempt = await client.send(try PushRequest.make(), to: .production, within: .seconds(2), on: reactor)
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
        _ = try? await reactor.waitForReadiness(of: listener.descriptor, .read, for: .seconds(5))
        guard case .accepted(let socket, _) = listener.accept() else { return }
        _ = try? await TLSStream.accept(over: socket, context: context, within: .seconds(5), on: reactor)
      }
      let client = try await apns.client(port: listener.address.port)
      let attempt = await client.send(try PushRequest.make(), to: .production, within: .seconds(2), on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(client.failure(of: .production) != nil)
      client.close(on: reactor)
    }
  }

  @Test("a connection that ends before APNs ever answered on it counts as a failed connect")
  func endsAtOnce() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .closeAbruptly }
      try apns.start(on: reactor)
      let client = try await apns.client()
      try await apns.connected(client, on: reactor)
      let attempts = Attempts()
      for _ in 0..<3 {
        try attempts.send(1, over: client, within: .milliseconds(200), on: reactor)
        try await attempts.finished(on: reactor)
      }
      #expect(client.connectionsOpened(to: .production) == 1)
      client.close(on: reactor)
    }
  }

  @Test("a closed client waits for the answers it is owed, and sends nothing more")
  func close() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .wait }
      try apns.start(on: reactor)
      let client = try await apns.client()
      let attempts = Attempts()
      try attempts.send(1, over: client, on: reactor)
      try await apns.received(1, on: reactor)
      client.close(on: reactor)
      #expect(await client.send(try PushRequest.make(9), to: .production, on: reactor).isNotProcessed)
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
      let client = try await ScriptedAPNs().client(port: Self.unusedPort())
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
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client()
      client.warmUp(.production, on: reactor)
      // The task of the connect has begun and its handshake cannot have ended.
      await reactor.sleep(for: .zero)
      client.close(on: reactor)
      try await apns.closed(1, on: reactor)
      #expect(!client.isConnected(to: .production))
    }
  }
}
