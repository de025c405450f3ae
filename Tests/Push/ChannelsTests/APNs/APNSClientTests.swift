import HTTP2
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

@Suite("The APNs client")
struct APNSClientTests {
  @Test("a request is what APNs documents: method, path, fields and body; its answer is the attempt")
  func request() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let tokens = try ProviderTokenSource(.make())
      let client = try await apns.client(tokens: tokens)
      let push = try APNSRequest.make(7)
      let attempt = await client.send(push, to: .production, on: reactor)
      #expect(attempt == .answered(APNSAnswer(status: 200, identifier: push.identifier.text)))
      let request = try #require(apns.requests.first?.request)
      #expect(request.method == "POST")
      #expect(request.path == "/3/device/aa1007")
      #expect(request.body == push.body)
      let fields = Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) })
      #expect(
        fields == [
          "authorization": tokens.current.authorization, "content-type": "application/json",
          "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
          "apns-expiration": "1700000000", "apns-id": push.identifier.text, "apns-collapse-id": "collapse",
        ])
      #expect(client.isConnected(to: .production))
      #expect(client.failure(of: .production) == nil)
    }
  }

  @Test("a refusal comes back with APNs' reason and time, and is not sent again")
  func refusal() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .answer(410, #"{"reason":"Unregistered","timestamp":1700000000123}"#) }
      let attempt = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      #expect(attempt.disposition == .dropToken(invalidSinceMilliseconds: 1_700_000_000_123))
      #expect(attempt.reason == "Unregistered")
      #expect(apns.requests.count == 1)
    }
  }

  @Test("pushes share one connection, also those that come before it is open")
  func oneConnection() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      let attempts = Attempts()
      try attempts.send(200, over: client, on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 200)
      #expect(client.connectionsOpened(to: .production) == 1)
      #expect(Set(apns.requests.compactMap(\.identifier)).count == 200)
    }
  }

  @Test("a GOAWAY sends what APNs did not take to a new connection, under the same identifier, and nothing twice")
  func goAway() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(99), to: .production, on: reactor)
      apns.reply = { $0.connectionNumber > 0 ? .answer(200, "") : .wait }
      let attempts = Attempts()
      try attempts.send(5, over: client, on: reactor)
      try await apns.received(6, on: reactor)
      let first = apns.requests[1...5].sorted { $0.request.streamID < $1.request.streamID }
      first[0].connection.goAway(lastStreamID: first[1].request.streamID, on: reactor)
      for received in first[...1] { apns.answer(received, on: reactor) }
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 5)
      #expect(apns.accepted.count == 6)
      #expect(Set(apns.accepted).count == 6)
      #expect(apns.requests.filter { $0.connectionNumber == 1 }.count == 3)
      #expect(client.connectionsOpened(to: .production) == 2)
      try await apns.closed(1, on: reactor)
    }
  }

  @Test("a GOAWAY after every answer keeps every push going")
  func goAwayAlways() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .goAwayAndAnswer }
      for number in 0..<10 {
        let attempt = await client.send(try APNSRequest.make(number), to: .production, on: reactor)
        #expect(attempt.disposition == .accepted)
      }
      #expect(apns.accepted.count == 10)
    }
  }

  @Test("a connection that ends without a word leaves the push's fate unknown; it is not sent again here")
  func lost() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      apns.reply = { _ in .closeAbruptly }
      let attempt = await client.send(try APNSRequest.make(1), to: .production, on: reactor)
      guard case .unknown = attempt else { throw TestFailure("\(attempt)") }
      #expect(apns.requests.count == 2)
      apns.reply = { _ in .answer(200, "") }
      let again = await client.send(try APNSRequest.make(1), to: .production, on: reactor)
      #expect(again.disposition == .accepted, "\(again)")
    }
  }

  @Test("without an answer the limit ends the attempt, and its fate is unknown")
  func noAnswer() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      try await apns.connected(client, on: reactor)
      apns.reply = { _ in .wait }
      let attempt = await client.send(try APNSRequest.make(), to: .production, within: .seconds(2), on: reactor)
      guard case .unknown = attempt else { throw TestFailure("\(attempt)") }
    }
  }

  @Test("what its connection did not send in time is not sent again, though it was not processed")
  func lateUnsent() async throws {
    try await onReactor { reactor in
      let (apns, client, connection) = try await oneStream(on: reactor)
      // The pool does not know of this one: what it admits finds no stream, as after a limit that falls meanwhile.
      reactor.start { _ = await connection.send(HTTP2Request(path: "/"), within: .seconds(10), on: reactor) }
      try await apns.received(1, on: reactor)
      let attempt = await client.send(
        try APNSRequest.make(), to: .production, within: .milliseconds(100), on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(client.resends == 0)
      #expect(apns.requests.count == 1)
      connection.close(on: reactor)
    }
  }

  @Test("what waits for a stream until its answer would come too late is not sent")
  func tooLateForAnswer() async throws {
    try await onReactor { reactor in
      let (apns, client, _) = try await oneStream(on: reactor)
      let (first, push) = (Reactor.now, try APNSRequest.make())
      reactor.start { _ = await client.send(push, to: .production, until: first + 1_950_000_000, on: reactor) }
      try await apns.received(1, on: reactor)
      // The first one's stream is free a twentieth of the second's limit before its end.
      let attempt = await client.send(
        try APNSRequest.make(1), to: .production, until: first + 2_000_000_000, on: reactor)
      #expect(attempt.isNotProcessed)
      #expect(apns.requests.count == 1)
    }
  }

  /// A server that lets one request in and answers none, and a client that knows.
  private func oneStream(
    on reactor: isolated Reactor
  ) async throws -> (ScriptedAPNs, APNSClient, HTTP2Connection) {
    let apns = try ScriptedAPNs()
    apns.streamsMax = 1
    apns.reply = { _ in .wait }
    try apns.start(on: reactor)
    let client = try await apns.client()
    try await apns.connected(client, on: reactor)
    let connection = try #require(client.pools[.production]?.links.first?.connection)
    while connection.streamsMax > 1 { await reactor.sleep(for: .milliseconds(1)) }
    return (apns, client, connection)
  }

  @Test("an environment without an endpoint is not processed, at once")
  func noEnvironment() async throws {
    try await onReactor { reactor in
      let client = try await ScriptedAPNs().client(port: 1)
      #expect(await client.send(try APNSRequest.make(), to: .sandbox, on: reactor).isNotProcessed)
      #expect(!client.isConnected(to: .sandbox))
      #expect(client.failure(of: .sandbox) == nil)
    }
  }

  @Test("503 Shutdown goes to a new connection")
  func shutdown() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      _ = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      apns.reply = { $0.connectionNumber > 0 ? .answer(200, "") : .answer(503, #"{"reason":"Shutdown"}"#) }
      let attempt = await client.send(try APNSRequest.make(1), to: .production, on: reactor)
      #expect(attempt.disposition == .accepted)
      #expect(apns.requests[1].identifier == apns.requests[2].identifier)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test("an APNs that answers every connection with Shutdown is not connected to in a loop")
  func shutdownAlways() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .answer(503, #"{"reason":"Shutdown"}"#) }
      try await apns.connected(client, on: reactor)
      let attempts = Attempts()
      try attempts.send(5, over: client, within: .milliseconds(200), on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 0)
      #expect(client.connectionsOpened(to: .production) == 1)
    }
  }

  @Test("an expired provider token is replaced once for everybody, on a new connection")
  func expiredToken() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = {
        let isOld = $0.request.fields["authorization"] == "bearer old"
        return isOld ? .answer(403, #"{"reason":"ExpiredProviderToken"}"#) : .answer(200, "")
      }
      try apns.start(on: reactor)
      let client = try await apns.client(tokens: .holding(.aged(1300)))
      let attempts = Attempts()
      try attempts.send(20, over: client, on: reactor)
      try await attempts.finished(on: reactor)
      #expect(attempts.acceptedCount == 20)
      #expect(apns.accepted.count == 20)
      #expect(Set(apns.requests.compactMap { $0.request.fields["authorization"] }).count == 2)
      #expect(client.connectionsOpened(to: .production) == 2)
    }
  }

  @Test("a fresh token that APNs calls expired is kept: minting in a loop would make it worse")
  func freshTokenRefused() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .answer(403, #"{"reason":"ExpiredProviderToken"}"#) }
      let attempt = await client.send(try APNSRequest.make(), to: .production, on: reactor)
      #expect(attempt.disposition == .refreshProviderToken)
      #expect(apns.requests.count == 1)
      #expect(client.connectionsOpened(to: .production) == 1)
    }
  }
}

@Suite("The router")
struct APNSRouterTests {
  private static func app(_ name: String) throws -> BundleIdentifier { try BundleIdentifier(name) }

  private static func route(_ app: String) throws -> PushRoute {
    PushRoute(app: try self.app(app), environment: .production)
  }

  @Test("sends through the app's client; apps may share one, and nobody's push goes anywhere")
  func routes() async throws {
    try await onReactor { reactor in
      let (one, other) = (try ScriptedAPNs(), try ScriptedAPNs())
      try one.start(on: reactor)
      try other.start(on: reactor)
      let shared = try await one.client()
      let router = APNSRouter([
        try Self.app("a"): shared, try Self.app("b"): shared, try Self.app("c"): try await other.client(),
      ])
      for (number, app) in ["a", "b", "c"].enumerated() {
        let attempt = await router.send(try .make(number), over: try Self.route(app), on: reactor)
        #expect(attempt.disposition == .accepted)
      }
      #expect(one.requests.count == 2 && one.connections.count == 1)
      #expect(other.requests.count == 1)
      let attempt = await router.send(try .make(9), over: try Self.route("d"), on: reactor)
      #expect(attempt == .notProcessed(cause: "d is not configured"))
      router.close(on: reactor)
      try await one.closed(1, on: reactor)
      try await other.closed(1, on: reactor)
    }
  }

  @Test("an update closes the clients that serve nobody, after their last answer, and no others")
  func update() async throws {
    try await onReactor { reactor in
      let (old, new) = (try ScriptedAPNs(), try ScriptedAPNs())
      try old.start(on: reactor)
      try new.start(on: reactor)
      let kept = try await old.client()
      let router = APNSRouter([try Self.app("a"): try await old.client(), try Self.app("b"): kept])
      _ = await router.send(try .make(0), over: try Self.route("a"), on: reactor)
      _ = await router.send(try .make(1), over: try Self.route("b"), on: reactor)
      old.reply = { _ in .wait }
      let underWay = RoutedAttempt()
      try underWay.send(.make(2), through: router, to: Self.route("a"), on: reactor)
      try await old.received(3, on: reactor)
      router.update([try Self.app("a"): try await new.client(), try Self.app("b"): kept], on: reactor)
      let next = await router.send(try .make(3), over: try Self.route("a"), on: reactor)
      #expect(next.disposition == .accepted && new.requests.count == 1)
      #expect(old.closedConnections == 0)
      old.answer(old.requests[2], on: reactor)
      #expect(await underWay.outcome(on: reactor)?.disposition == .accepted)
      try await old.closed(1, on: reactor)
      old.reply = { _ in .answer(200, "") }
      _ = await router.send(try .make(4), over: try Self.route("b"), on: reactor)
      #expect(old.connections.count == 2 && old.closedConnections == 1)
      #expect(Set(old.accepted).count == 4 && new.accepted.count == 1)
    }
  }

  @Test("a push that waits for a client's connection goes through the client that follows it")
  func handover() async throws {
    try await onReactor { reactor in
      let (old, new) = (try ScriptedAPNs(), try ScriptedAPNs())
      try old.start(on: reactor)
      old.stop(on: reactor)
      try new.start(on: reactor)
      let client = try await old.client { $0.connectionWait = .seconds(10) }
      let router = APNSRouter([try Self.app("a"): client])
      let waiting = RoutedAttempt()
      try waiting.send(.make(0), through: router, to: Self.route("a"), on: reactor)
      // Nobody but the push makes the client connect.
      while client.failure(of: .production) == nil { await reactor.sleep(for: .milliseconds(1)) }
      router.update([try Self.app("a"): try await new.client()], on: reactor)
      #expect(await waiting.outcome(on: reactor)?.disposition == .accepted)
      #expect(new.requests.count == 1)
    }
  }

  @Test("the client that follows has the time that is left, and no more")
  func handoverDeadline() async throws {
    try await onReactor { reactor in
      let (old, new) = (try ScriptedAPNs(), try ScriptedAPNs())
      try old.start(on: reactor)
      old.stop(on: reactor)
      try new.start(on: reactor)
      new.reply = { _ in .wait }
      let client = try await old.client { $0.connectionWait = .seconds(10) }
      let router = APNSRouter([try Self.app("a"): client])
      let waiting = RoutedAttempt()
      let start = Reactor.now
      try waiting.send(.make(0), through: router, to: Self.route("a"), within: .seconds(4), on: reactor)
      // Nobody but the push makes the client connect.
      while client.failure(of: .production) == nil { await reactor.sleep(for: .milliseconds(1)) }
      await reactor.sleep(for: .nanoseconds(Int64(clamping: start &+ 3_000_000_000 &- Reactor.now)))
      router.update([try Self.app("a"): try await new.client()], on: reactor)
      let outcome = await waiting.outcome(on: reactor)
      switch outcome {
      case .notProcessed, .unknown: break
      default: throw TestFailure("it has not ended: \(String(describing: outcome))")
      }
      // Four seconds anew would end after seven.
      #expect((4_000_000_000..<7_000_000_000).contains(Reactor.now - start))
    }
  }

  @Test("when the app is gone meanwhile, the push is not processed")
  func removed() async throws {
    try await onReactor { reactor in
      let old = try ScriptedAPNs()
      try old.start(on: reactor)
      old.stop(on: reactor)
      let client = try await old.client { $0.connectionWait = .seconds(10) }
      let router = APNSRouter([try Self.app("a"): client])
      let waiting = RoutedAttempt()
      try waiting.send(.make(0), through: router, to: Self.route("a"), on: reactor)
      // Nobody but the push makes the client connect.
      while client.failure(of: .production) == nil { await reactor.sleep(for: .milliseconds(1)) }
      router.update([:], on: reactor)
      #expect(await waiting.outcome(on: reactor) == .notProcessed(cause: "a is not configured"))
      #expect(router.client(for: try Self.app("a")) == nil)
    }
  }
}

extension APNSRouter {
  /// Sends a push that has so much time from now.
  fileprivate func send(
    _ request: APNSRequest, over route: PushRoute, within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) async -> APNSOutcome {
    await send(request, over: route, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
  }
}

/// A push under way through a router.
private final class RoutedAttempt {
  private var attempt: APNSOutcome?
  private let ended = Signal()

  func send(
    _ request: APNSRequest, through router: APNSRouter, to route: PushRoute, within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) {
    reactor.start { [self] in
      attempt = await router.send(request, over: route, within: limit, on: reactor)
      ended.signal(on: reactor)
    }
  }

  /// Nil when it takes too long.
  func outcome(on reactor: isolated Reactor) async -> APNSOutcome? {
    if attempt == nil { _ = await ended.wait(for: .seconds(30), on: reactor) }
    return attempt
  }
}
