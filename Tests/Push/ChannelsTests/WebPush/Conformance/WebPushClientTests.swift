import Cryptography
import Foundation
import HTTPTransfers
import PushRules
import Reactors
import Synchronization
import TestRandomness
import Testing
import WebPushSimulation

@testable import Channels

@Suite("The client and the stand-in", .timeLimit(.minutes(1)))
struct WebPushClientTests {
  private static let drop = PushDisposition.dropToken(invalidSinceMilliseconds: nil)

  @Test("a push arrives as it was written, padded, with its fields", arguments: PushServiceFace.allCases)
  func arrives(_ face: PushServiceFace) async throws {
    try await PushStand.run { stand in
      let subscription = try stand.subscribe(face: face)
      let content = String(
        decoding: try WebPushNotification(title: "Zoë 👋", link: "https://a.example/7").fitted(), as: UTF8.self)
      let attempt = try await stand.send(
        content, to: subscription, urgency: .high, timeToLive: 3600, topic: WebPushTopic(of: "chat"))
      #expect(attempt.disposition == .accepted)
      #expect(attempt.status == 201)
      #expect(attempt.reason == nil)
      #expect((attempt.identifier != nil) == (face == .apple))
      let record = try #require(stand.service.pushes.last)
      #expect(record.content == content)
      #expect(record.bodyBytes == 512 + 103)
      #expect(record.paddingBytes == 512 - content.utf8.count)
      #expect(record.timeToLive == 3600)
      #expect(record.urgency == "high")
      #expect(record.topic == WebPushTopic(of: "chat").text)
      #expect(record.audience == stand.origin)
      #expect(record.serverKey == stand.signer.publicKeyText)
    }
  }

  @Test("an empty push has no body")
  func empty() async throws {
    try await PushStand.run { stand in
      #expect(try await stand.send(nil, to: stand.subscribe()).disposition == .accepted)
      let record = try #require(stand.service.pushes.last)
      #expect(record.bodyBytes == 0)
      #expect(record.content == nil)
      #expect(record.contentFault == nil)
    }
  }

  @Test("one token serves all pushes to an origin")
  func token() async throws {
    try await PushStand.run { stand in
      for number in 0..<5 { _ = try await stand.send(to: stand.subscribe("s\(number)")) }
      #expect(Set(stand.service.pushes.map(\.expiration)).count == 1)
      #expect(stand.signer.originCount == 1)
      #expect(await stand.simulator.connectionCount == 1)
    }
  }

  @Test("a dead subscription is dropped", arguments: PushServiceFace.allCases)
  func dead(_ face: PushServiceFace) async throws {
    try await PushStand.run { stand in
      for state in [SimulatedSubscription.State.expired, .gone] {
        let attempt = try await stand.send(to: stand.subscribe(face: face, state: state))
        #expect(attempt.disposition == Self.drop)
        #expect(attempt.fault == nil)
      }
    }
  }

  @Test(
    "a subscription with an older key is dropped, and one with the current key stops the route",
    arguments: PushServiceFace.allCases)
  func keys(_ face: PushServiceFace) async throws {
    try await PushStand.run { stand in
      let old = Base64URL.encode(P256PrivateKey().publicKey.x963)
      let known = try await stand.send(to: stand.subscribe("a", face: face, madeWith: old, stored: old))
      #expect(known.disposition == Self.drop)
      #expect(known.fault == nil)
      let unknown = try await stand.send(to: stand.subscribe("b", face: face, madeWith: old))
      #expect(unknown.disposition == .fixCredentials)
      #expect(unknown.fault == .configuration)
    }
  }

  @Test("a token that a service calls expired is replaced once")
  func expiredToken() async throws {
    try await Self.runWithClock { stand, advance in
      let subscription = try stand.subscribe()
      #expect(try await stand.send(to: subscription).disposition == .accepted)
      // Two hours later for the sender, thirteen for the service.
      advance(7200)
      stand.service.advanceClock(milliseconds: 13 * 3_600_000)
      #expect(try await stand.send(to: subscription).disposition == .refreshProviderToken)
      let again = try await stand.send(to: subscription)
      #expect(again.disposition == .accepted)
      // A new token that is refused shows that a clock is wrong.
      stand.service.advanceClock(milliseconds: 13 * 3_600_000)
      #expect(try await stand.send(to: subscription).disposition == .fixCredentials)
    }
  }

  private static func runWithClock(_ test: (PushStand, (Int64) -> Void) async throws -> Void) async throws {
    let offset = Offset()
    try await PushStand.run(clock: { offset.now }) { stand in
      try await test(stand) { offset.advance($0) }
    }
  }

  /// The wall clock, which a test moves.
  private final class Offset: Sendable {
    private let seconds = Mutex<Int64>(0)
    var now: Int64 { Int64(Date().timeIntervalSince1970) + seconds.withLock { $0 } }
    func advance(_ step: Int64) { seconds.withLock { $0 += step } }
  }

  @Test("many pushes at once all arrive, over few connections")
  func many() async throws {
    try await PushStand.run { stand in
      let subscriptions = try (0..<8).map { try stand.subscribe("s\($0)") }
      try await withThrowingTaskGroup(of: DeliveryAttempt.self) { group in
        for number in 0..<120 {
          group.addTask { try await stand.send("push \(number)", to: subscriptions[number % 8]) }
        }
        for try await attempt in group { #expect(attempt.disposition == .accepted) }
      }
      #expect(Set(stand.service.pushes.compactMap(\.content)).count == 120)
      #expect(await stand.simulator.connectionCount <= 16)
    }
  }

  @Test("random content is read by the browser as it was written")
  func random() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let contents = (0..<200).map { _ in
      String((0..<Int.random(in: 1...900, using: &random)).map { _ in "aß👋\n\"한".randomElement(using: &random)! })
    }
    try await PushStand.run { stand in
      let subscription = try stand.subscribe()
      for content in contents {
        let attempt = try await stand.send(content, to: subscription)
        #expect(attempt.disposition == .accepted, "seed \(seed)")
      }
      #expect(stand.service.pushes.map(\.content) == contents, "seed \(seed)")
    }
  }
}
