import Cryptography
import Foundation
import HTTPTransfers
import PushRules
import Reactors
import Simulators
import Synchronization
import TestRandomness
import Testing

@testable import Channels

@Suite("The client and the stand-in", .timeLimit(.minutes(5)))
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

@Suite("What services and networks do to pushes", .timeLimit(.minutes(5)))
struct WebPushFaultTests {
  @Test("a redirect is not followed", arguments: [301, 302, 303, 307, 308])
  func redirect(_ status: Int) async throws {
    try await PushStand.run { stand in
      _ = try stand.subscribe("other")
      stand.service.arrange(
        PushFault(.answer, status: status, fields: ["location": stand.origin + "/push/other"]))
      let attempt = try await stand.send(to: stand.subscribe())
      #expect(attempt.disposition == .never)
      #expect(attempt.reason == "http_\(status)")
      #expect(stand.service.pushes.map(\.subscription) == ["sub-ok"])
    }
  }

  @Test("waits that a service asks for are kept, up to an hour", arguments: [("30", 30), ("7200", 3600), ("0", 0)])
  func retryAfter(_ text: String, _ seconds: Int) async throws {
    try await PushStand.run { stand in
      for status in [429, 503] {
        stand.service.arrange(PushFault(.answer, status: status, fields: ["retry-after": text]))
        let attempt = try await stand.send(to: stand.subscribe())
        #expect(attempt.disposition == .retryLater(minimumWait: .seconds(seconds)))
        #expect(attempt.askedWait == .seconds(seconds))
      }
    }
  }

  @Test(
    "a lost connection is tried again later, and the next push finds another",
    arguments: [PushFault.Kind.dropBefore, .dropAfter])
  func drops(_ kind: PushFault.Kind) async throws {
    try await PushStand.run { stand in
      let subscription = try stand.subscribe()
      // On a new connection, and on one that has served: libcurl would send again there.
      for _ in 0..<2 {
        stand.service.forgetPushes()
        stand.service.arrange(PushFault(kind))
        let attempt = try await stand.send(to: subscription)
        #expect(attempt.disposition == .retryLater(minimumWait: .zero))
        #expect(attempt.reason == "answer_lost")
        #expect(attempt.fault == .connection)
        #expect(stand.service.totals.total == (kind == .dropAfter ? 1 : 0))
        #expect(try await stand.send(to: subscription).disposition == .accepted)
      }
    }
  }

  @Test("an answer that does not come ends with the deadline, or with the client's own limit")
  func silence() async throws {
    try await PushStand.run { stand in
      stand.service.arrange(PushFault(.blackHole))
      let attempt = try await stand.send(to: stand.subscribe(), within: .milliseconds(50))
      #expect(attempt.reason == "answer_late")
      #expect(attempt.fault == .connection)
    }
    try await PushStand.run({ $0.answerLimit = .milliseconds(50) }) { stand in
      stand.service.arrange(PushFault(.blackHole))
      let attempt = try await stand.send(to: stand.subscribe())
      #expect(attempt.reason == "answer_late")
    }
  }

  @Test("a push whose time or permit is over is not sent")
  func withdrawn() async throws {
    try await PushStand.run { stand in
      let subscription = try stand.subscribe()
      let late = try await stand.send(to: subscription, within: .zero)
      #expect(late.fault == .connection && late.reason == "answer_late" && !late.isWithdrawn)
      let push = try WebPushRequest(
        to: subscription, content: nil, urgency: .high, timeToLiveSeconds: 60)
      let shut = await stand.client.perform { client, reactor in
        await client.send(
          push, until: .max, permit: PushPermit(from: ShutGate(), number: 1), on: reactor)
      }
      #expect(shut.isWithdrawn)
      #expect(stand.service.totals.total == 0)
    }
  }

  private final class ShutGate: PushGate {
    func admits(_ number: Int) -> Bool { false }
  }

  @Test("a name that resolves to a private address is not connected to, even when the list allows the name")
  func rebinding() async throws {
    try await PushStand.run(hosts: { $0.replacing("127.0.0.1", with: "localhost") }) { stand in
      let endpoint = try WebPushEndpoint(
        stand.origin.replacing("127.0.0.1", with: "localhost") + "/push/sub-ok", among: stand.hosts)
      let keys = try WebPushKeys(
        p256dh: stand.signer.publicKeyText, auth: Base64URL.encode([UInt8](repeating: 1, count: 16)))
      let attempt = try await stand.send(
        to: WebPushSubscription(endpoint: endpoint, keys: keys, serverKey: nil))
      #expect(attempt.disposition == .never)
      #expect(attempt.reason == "address_not_allowed")
      #expect(attempt.fault == nil)
      #expect(await stand.simulator.connectionCount == 0)
    }
  }

  @Test("a server without a trusted certificate gets no push")
  func untrusted() async throws {
    try await PushStand.run(trustsSimulator: false) { stand in
      let attempt = try await stand.send(to: stand.subscribe())
      #expect(attempt.reason == "certificate_untrusted")
      #expect(attempt.fault == .connection)
      #expect(stand.service.totals.total == 0)
    }
  }

  @Test("a service that is silent takes its share of the places, and delays no other")
  func shares() async throws {
    try await PushStand.run({ $0.pushesPerOriginMax = 3 }) { slow in
      let subscription = try slow.subscribe()
      slow.service.arrange(PushFault(.blackHole, times: 100))
      try await withThrowingTaskGroup(of: DeliveryAttempt.self) { group in
        for _ in 0..<3 { group.addTask { try await slow.send(to: subscription) } }
        #expect(await slow.simulator.waitForPushes(3, within: .seconds(60)))
        #expect(await !slow.client.perform { client, _ in client.hasRoom(for: subscription.endpoint) })
        #expect(try await slow.send(to: subscription).reason == "too_many_in_flight")
        try await Self.reachesAnother(slow)
        await slow.client.perform { $0.close(on: $1) }
        for try await attempt in group { #expect(attempt.reason == "client_closed") }
      }
      #expect(await slow.client.perform { client, _ in client.hasRoom(for: subscription.endpoint) })
    }
  }

  /// Another origin, which nothing answers at: it fails at once, so it was tried.
  private static func reachesAnother(_ stand: PushStand) async throws {
    let hosts = try WebPushHosts(parsing: "127.0.0.1:1")
    let endpoint = try WebPushEndpoint("https://127.0.0.1:1/x", among: hosts)
    let keys = try WebPushKeys(
      p256dh: stand.signer.publicKeyText, auth: Base64URL.encode([UInt8](repeating: 1, count: 16)))
    let attempt = try await stand.send(to: WebPushSubscription(endpoint: endpoint, keys: keys, serverKey: nil))
    #expect(attempt.reason == "host_unreachable")
  }
}
