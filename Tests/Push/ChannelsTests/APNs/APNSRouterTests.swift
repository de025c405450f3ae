import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

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
      #expect(attempt == .failed(.notProcessed(cause: "d is not configured")))
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
      try waiting.send(.make(0), through: router, to: Self.route("a"), within: .seconds(2), on: reactor)
      // Nobody but the push makes the client connect.
      while client.failure(of: .production) == nil { await reactor.sleep(for: .milliseconds(1)) }
      await reactor.sleep(for: .nanoseconds(Int64(clamping: start &+ 1_500_000_000 &- Reactor.now)))
      router.update([try Self.app("a"): try await new.client()], on: reactor)
      guard case .failed = await waiting.outcome(on: reactor) else { throw TestFailure("it has not ended") }
      // Two seconds anew would end after three and a half.
      #expect((2_000_000_000..<3_500_000_000).contains(Reactor.now - start))
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
      #expect(await waiting.outcome(on: reactor) == .failed(.notProcessed(cause: "a is not configured")))
      #expect(router.client(for: try Self.app("a")) == nil)
    }
  }
}

extension APNSRouter {
  /// Sends a push that has so much time from now.
  fileprivate func send(
    _ request: PushRequest, over route: PushRoute, within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) async -> PushAttempt {
    await send(request, over: route, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
  }
}

/// A push under way through a router.
private final class RoutedAttempt {
  private var attempt: PushAttempt?
  private let ended = Signal()

  func send(
    _ request: PushRequest, through router: APNSRouter, to route: PushRoute, within limit: Duration = .seconds(10),
    on reactor: isolated Reactor
  ) {
    reactor.start { [self] in
      attempt = await router.send(request, over: route, within: limit, on: reactor)
      ended.signal(on: reactor)
    }
  }

  /// Nil when it takes too long.
  func outcome(on reactor: isolated Reactor) async -> PushAttempt? {
    if attempt == nil { _ = await ended.wait(for: .seconds(10), on: reactor) }
    return attempt
  }
}
