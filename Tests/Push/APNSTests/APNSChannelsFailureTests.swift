import APNSCore
import Delivery
import HTTP2
import Reactors
import TestReactors
import Testing

@testable import APNS

@Suite("Calls about channels that fail")
struct APNSChannelsFailureTests {
  @Test(
    "a refusal has APNs' reason and what to do about it, and is not sent again",
    arguments: [
      (400, "BadRequestParams", PushDisposition.fixRequest), (400, "BroadcastFeatureNotEnabled", .fixCredentials),
      (400, "CannotCreateChannelConfig", .retryLater(minimumWait: .seconds(60))),
      (403, "TopicMismatch", .fixCredentials),
      (400, "BadChannelId", .dropToken(invalidSinceMilliseconds: nil)), (404, "BadPath", .fixRequest),
      (403, "ExpiredProviderToken", .refreshProviderToken),
      (503, "ServiceUnavailable", .retryLater(minimumWait: .seconds(900))),
    ])
  func refusal(status: Int, reason: String, disposition: PushDisposition) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(status, #"{"reason":"\#(reason)"}"#) }
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.status == status && error?.reason == reason && error?.description == reason)
      #expect(error?.disposition == disposition)
      #expect(error?.isOutcomeUnknown == false)
      #expect(scene.apns.requests.count == 1)
    }
  }

  @Test("a creation whose answer is lost is not sent again: nobody knows whether there is a channel")
  func lost() async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .closeAbruptly }
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.isOutcomeUnknown == true)
      #expect(error?.status == nil && error?.reason == "apns_answer_lost")
      #expect(scene.apns.requests.count == 1)
      scene.apns.reply = { _ in .created("AAAA") }
      _ = try await scene.channels.create(in: scene.app, of: .production, storage: .newest, on: reactor)
      #expect(scene.apns.connections.count == 2)
    }
  }

  @Test("so is one that is never answered", arguments: [Duration.seconds(2)])
  func silence(limit: Duration) async throws {
    try await Management.run(limit: limit) { scene, reactor in
      scene.apns.reply = { _ in .wait }
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.isOutcomeUnknown == true && error?.reason == "apns_answer_lost")
      #expect(scene.apns.requests.count == 1)
    }
  }

  @Test("so is a success that names no channel", arguments: [nil, "", "!!!!"])
  func nameless(channel: String?) async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .created(channel) }
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.isOutcomeUnknown == true && error?.reason == "apns_answer_unreadable")
      #expect(error?.status == 201 && error?.disposition == .retryLater(minimumWait: .seconds(900)))
      #expect(scene.apns.requests.count == 1)
    }
  }

  @Test("what APNs says not to have processed goes once more, on another connection")
  func unprocessed() async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { $0.connectionNumber == 0 ? .goAway : .created("AAAA") }
      _ = try await scene.channels.create(in: scene.app, of: .production, storage: .newest, on: reactor)
      #expect(scene.apns.requests.map(\.connectionNumber) == [0, 1])
      scene.apns.reply = { _ in .goAway }
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.isOutcomeUnknown == false && error?.reason == "apns_unreachable")
      #expect(scene.apns.requests.count == 4)
    }
  }

  @Test("a connection that APNs calls idle is replaced")
  func idle() async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { $0.connectionNumber == 0 ? .answer(400, #"{"reason":"IdleTimeout"}"#) : .created("AAAA") }
      _ = try await scene.channels.create(in: scene.app, of: .production, storage: .newest, on: reactor)
      #expect(scene.apns.requests.map(\.connectionNumber) == [0, 1])
    }
  }

  @Test("a provider token that is old enough is replaced when APNs calls it expired")
  func expiredToken() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let age = ProviderTokenSchedule.keepAge.clampedNanoseconds
      let old = ProviderToken(
        authorization: "bearer old", mintedAt: Reactor.now &- age,
        issuedAt: ClockDifference.wallSeconds - ProviderTokenSchedule.keepAge.components.seconds)
      let tokens = ProviderTokenSource(try .make(), schedule: ProviderTokenSchedule(draw: 0.5), current: old)
      apns.reply = {
        $0.request.fields["authorization"] == "bearer old"
          ? .answer(403, #"{"reason":"ExpiredProviderToken"}"#) : .created("AAAA")
      }
      let scene = try Management(apns, tokens: tokens)
      _ = try await scene.channels.create(in: scene.app, of: .production, storage: .newest, on: reactor)
      #expect(apns.requests.map(\.connectionNumber) == [0, 1])
      #expect(apns.requests.last?.request.fields["authorization"] == tokens.current.authorization)
    }
  }

  @Test("without a connection nothing was sent, and so after the end")
  func unreachable() async throws {
    try await Management.run { scene, reactor in
      let elsewhere = await scene.failure(of: .list, in: .sandbox, on: reactor)
      #expect(elsewhere?.reason == "apns_unreachable" && elsewhere?.isOutcomeUnknown == false)
      scene.apns.stop(on: reactor)
      let error = await scene.failure(of: .create, on: reactor)
      #expect(error?.reason == "apns_unreachable" && error?.isOutcomeUnknown == false)
      #expect(error?.description.contains("cannot connect to 127.0.0.1") == true)
      try scene.apns.start(on: reactor)
      scene.channels.close(on: reactor)
      let closed = await scene.failure(of: .create, on: reactor)
      #expect(closed?.reason == "apns_unreachable" && scene.apns.connections.isEmpty)
    }
  }

  @Test("calls share a connection, also those that come before it is open")
  func oneConnection() async throws {
    try await Management.run { scene, reactor in
      scene.apns.reply = { _ in .answer(200, #"{"channels":[]}"#) }
      var finished = 0
      let done = Signal()
      for _ in 0..<20 {
        reactor.start {
          _ = try? await scene.channels.list(in: scene.app, of: .production, on: reactor)
          finished += 1
          if finished == 20 { done.signal(on: reactor) }
        }
      }
      #expect(await done.wait(for: .seconds(10), on: reactor))
      #expect(scene.apns.requests.count == 20)
      #expect(Set(scene.apns.requests.map(\.connectionNumber)).count == 1)
    }
  }
}

/// The management of an app's channels at a scripted server.
struct Management {
  let apns: ScriptedAPNs
  let tokens: ProviderTokenSource
  let channels: APNSChannels
  let app: BundleIdentifier
  let channel: ChannelIdentifier

  init(_ apns: ScriptedAPNs, tokens: ProviderTokenSource, limit: Duration = .seconds(10)) throws {
    self.apns = apns
    self.tokens = tokens
    channels = APNSChannels(
      endpoints: [.production: APNSEndpoint(host: "127.0.0.1", port: apns.port)], context: try apns.clientContext(),
      tokens: tokens, limit: limit)
    app = try BundleIdentifier("com.example.app")
    channel = try ChannelIdentifier("AAECAwQFBgcICQoLDA0ODw==")
  }

  static func run(
    limit: Duration = .seconds(10), _ body: @escaping @Sendable (Management, isolated Reactor) async throws -> Void
  ) async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      try await body(Management(apns, tokens: ProviderTokenSource(.make()), limit: limit), reactor)
    }
  }

  /// The fields of a request.
  func fields(_ number: Int) -> [String: String] {
    Dictionary(uniqueKeysWithValues: apns.requests[number].request.fields.map { ($0.name, $0.value) })
  }

  enum Call {
    case create, storage, delete, list
  }

  /// How a call fails; nil when it does not.
  func failure(
    of call: Call, in environment: APNSEnvironment = .production, on reactor: isolated Reactor
  ) async -> APNSChannelsError? {
    do throws(APNSChannelsError) {
      switch call {
      case .create: _ = try await channels.create(in: app, of: environment, storage: .newest, on: reactor)
      case .storage: _ = try await channels.storage(of: channel, in: app, of: environment, on: reactor)
      case .delete: try await channels.delete(channel, in: app, of: environment, on: reactor)
      case .list: _ = try await channels.list(in: app, of: environment, on: reactor)
      }
      return nil
    } catch {
      return error
    }
  }
}
