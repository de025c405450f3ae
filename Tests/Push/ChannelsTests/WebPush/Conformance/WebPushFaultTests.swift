import Cryptography
import HTTPTransfers
import PushRules
import Reactors
import Testing
import WebPushSimulation

@testable import Channels

@Suite("What services and networks do to pushes", .timeLimit(.minutes(1)))
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
      let push = try WebPushRequest(content: nil, urgency: .high, timeToLiveSeconds: 60)
      let shut = await stand.client.perform { client, reactor in
        await client.send(
          push, to: subscription, until: .max, permit: PushPermit(from: ShutGate(), number: 1), on: reactor)
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
        #expect(await slow.simulator.waitForPushes(3, within: .seconds(10)))
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
