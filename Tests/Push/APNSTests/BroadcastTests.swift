import APNSCore
import Delivery
import HTTP2
import Reactors
import TestReactors
import Testing

@testable import APNS

@Suite("Broadcasts through the client")
struct BroadcastTests {
  private static func broadcast(_ number: Int = 0) throws -> PushRequest {
    let channel = PushDestination.channel(try ChannelIdentifier("AAECAwQFBgcICQoLDA0ODw=="))
    return try PushRequest(
      try LiveActivityPayload(timestamp: Int64(number), event: .update, contentState: ["score": 1]), to: channel,
      of: BundleIdentifier("com.example.app"), expiration: .attemptOnce,
      identifier: PushIdentifier(eventKind: "k", event: "\(number)", recipient: "r", destination: channel))
  }

  @Test("the app is in the path, the channel in a field; the answer names the request")
  func request() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let tokens = try ProviderTokenSource(.make())
      let client = try await apns.client(tokens: tokens)
      let push = try Self.broadcast()
      let attempt = await client.send(push, to: .production, on: reactor)
      let expected = PushAnswer(status: 200, identifier: push.head.identifier.text, service: .broadcasts)
      #expect(attempt == .answered(expected))
      let request = try #require(apns.requests.first?.request)
      #expect(request.method == "POST" && request.path == "/4/broadcasts/apps/com.example.app")
      #expect(
        Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) }) == [
          "authorization": tokens.current.authorization, "content-type": "application/json",
          "apns-push-type": "liveactivity", "apns-priority": "5", "apns-expiration": "0",
          "apns-channel-id": "AAECAwQFBgcICQoLDA0ODw==", "apns-request-id": push.head.identifier.text,
        ])
    }
  }

  @Test("they share the connections of pushes to devices where both go to one host")
  func shared() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      try apns.start(on: reactor)
      let client = try await apns.client(broadcasts: apns.port)
      _ = await client.send(try .make(), to: .production, on: reactor)
      _ = await client.send(try Self.broadcast(), to: .production, on: reactor)
      #expect(apns.requests.count == 2 && apns.connections.count == 1)
      #expect(client.connections(to: .production) == 1 && client.connectionsOpened(to: .production) == 1)
      #expect(client.pool(of: .production, .devices) === client.pool(of: .production, .broadcasts))
    }
  }

  @Test("they have their own where the hosts are two")
  func apart() async throws {
    try await onReactor { reactor in
      let devices = try ScriptedAPNs()
      let broadcasts = try ScriptedAPNs(like: devices)
      try devices.start(on: reactor)
      try broadcasts.start(on: reactor)
      let client = try await devices.client(broadcasts: broadcasts.port)
      _ = await client.send(try Self.broadcast(), to: .production, on: reactor)
      #expect(!client.isConnected(to: .production) && client.isConnected(to: .production, .broadcasts))
      #expect(client.isReady(for: .production, .broadcasts) && !client.isReady(for: .production))
      _ = await client.send(try .make(), to: .production, on: reactor)
      #expect(devices.requests.map(\.request.path) == ["/3/device/aa1000"])
      #expect(broadcasts.requests.map(\.request.path) == ["/4/broadcasts/apps/com.example.app"])
      #expect(client.connections(to: .production) == 2 && client.connectionsOpened(to: .production) == 2)
      client.close(on: reactor)
      try await devices.closed(1, on: reactor)
      try await broadcasts.closed(1, on: reactor)
    }
  }

  @Test(
    "a refusal is judged as that of a broadcast",
    arguments: [
      (400, "ChannelNotRegistered", PushDisposition.dropToken(invalidSinceMilliseconds: nil)),
      (400, "TopicDisallowed", .fixRequest), (429, "TooManyRequests", .retryLater(minimumWait: .seconds(60))),
    ])
  func refusal(status: Int, reason: String, disposition: PushDisposition) async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = { _ in .answer(status, #"{"reason":"\#(reason)"}"#) }
      try apns.start(on: reactor)
      let client = try await apns.client()
      let attempt = await client.send(try Self.broadcast(), to: .production, on: reactor)
      #expect(attempt.disposition == disposition && attempt.reason == reason)
      #expect(apns.requests.count == 1)
    }
  }

  @Test("an app without the capability is no fault of the connection, which devices share")
  func capability() async throws {
    try await onReactor { reactor in
      let apns = try ScriptedAPNs()
      apns.reply = {
        $0.request.path.hasPrefix("/4/") ? .answer(400, #"{"reason":"BroadcastFeatureNotEnabled"}"#) : .answer(200, "")
      }
      try apns.start(on: reactor)
      let client = try await apns.client()
      let attempt = await client.send(try Self.broadcast(), to: .production, on: reactor)
      #expect(attempt.disposition == .fixCredentials && attempt.provesConnection)
      #expect(client.failure(of: .production) == nil)
      #expect(client.pools[.production]?.links.first?.isOpenedUp == true)
    }
  }
}
