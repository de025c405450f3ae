import PrometheusMetrics
import Reactors
import TestReactors
import Testing

@testable import Channels
@testable import PushRules

@Suite("The end of a request to APNs")
struct APNSOutcomeTests {
  @Test(
    "its reason is APNs' word, the status without one, or what the connection did",
    arguments: [
      (.answered(APNSAnswer(status: 200)), nil),
      (.answered(APNSAnswer(status: 410, reason: "Unregistered")), "Unregistered"),
      (.answered(APNSAnswer(status: 502)), "http_502"), (.answered(APNSAnswer(status: 400, reason: "")), "http_400"),
      (.notProcessed(cause: "x"), "apns_unreachable"), (.unknown(cause: "x"), "apns_answer_lost"),
      (.refused("BadCertificate"), "BadCertificate"),
    ] as [(APNSOutcome, String?)])
  func reasons(outcome: APNSOutcome, reason: String?) {
    #expect(DeliveryAttempt(outcome).ledgerReason == reason)
  }

  @Test(
    "without an answer the connection is at fault, or the setting for which APNs has closed it",
    arguments: [
      (.notProcessed(cause: "x"), .retryLater(minimumWait: .zero), .connection),
      (.unknown(cause: "x"), .retryLater(minimumWait: .zero), .connection),
      (.refused("BadCertificate"), .fixCredentials, .configuration),
    ] as [(APNSOutcome, PushDisposition, DeliveryFault)])
  func unanswered(outcome: APNSOutcome, disposition: PushDisposition, fault: DeliveryFault) {
    #expect(DeliveryAttempt(outcome).disposition == disposition && DeliveryAttempt(outcome).fault == fault)
  }

  private static func answered(_ status: Int, _ reason: APNSReason?) -> APNSOutcome {
    .answered(APNSAnswer(status: status, reason: reason))
  }

  @Test("only a token that is unknown where it was asked for may be known elsewhere")
  func elsewhere() {
    #expect(DeliveryAttempt(Self.answered(400, "BadDeviceToken")).otherEnvironment == .mayKnowTarget)
    let others: [(Int, APNSReason?)] = [
      (400, "DeviceTokenNotForTopic"), (410, "Unregistered"), (403, "InvalidProviderToken"), (200, nil),
      (410, "BadDeviceToken"),
    ]
    for (status, reason) in others {
      #expect(DeliveryAttempt(Self.answered(status, reason)).otherEnvironment != .mayKnowTarget, "\(status)")
    }
  }

  private static func refusesEnvironment(_ outcome: APNSOutcome) -> Bool {
    DeliveryAttempt(outcome).otherEnvironment == .ownsCredential
  }

  @Test("only three refusals of a credential say that it is not for the environment")
  func environment() {
    for reason in ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken", "BadCertificateEnvironment"] {
      #expect(Self.refusesEnvironment(Self.answered(403, APNSReason(rawValue: reason))))
      #expect(Self.refusesEnvironment(.refused(APNSReason(rawValue: reason))))
      #expect(!Self.refusesEnvironment(Self.answered(200, APNSReason(rawValue: reason))))
    }
    for outcome in [
      Self.answered(403, "InvalidProviderToken"), Self.answered(403, nil), Self.answered(407, nil),
      Self.answered(400, "BadDeviceToken"), .refused("BadCertificate"),
    ] {
      #expect(!Self.refusesEnvironment(outcome), "\(outcome)")
    }
  }

  @Test(
    "a connection is proved by what APNs takes, and by what it refuses for the push's or the device's sake",
    arguments: [
      (200, nil, true), (410, "Unregistered", true), (400, "BadDeviceToken", true), (413, "PayloadTooLarge", true),
      (400, "BadTopic", true), (429, "TooManyRequests", true), (429, "TooManyProviderTokenUpdates", false),
      (403, "InvalidProviderToken", false), (403, "ExpiredProviderToken", false), (503, "Shutdown", false),
      (500, "InternalServerError", false), (502, nil, false),
    ] as [(Int, APNSReason?, Bool)])
  func proofs(status: Int, reason: APNSReason?, provesConnection: Bool) {
    #expect(APNSOutcome.answered(APNSAnswer(status: status, reason: reason)).provesConnection == provesConnection)
  }

  @Test("a connection is not proved by a push that was not answered")
  func noProofs() {
    #expect(!APNSOutcome.unknown(cause: "x").provesConnection)
    #expect(!APNSOutcome.notProcessed(cause: "x").provesConnection)
    #expect(!APNSOutcome.refused("BadCertificate").provesConnection)
  }
}

@Suite("A push's permit")
struct PushPermitTests {
  /// Lets pushes go until it is told not to.
  private final class Gate: PushGate {
    var isOpen = true

    func admits(_ number: Int) -> Bool { isOpen }
  }

  @Test("a push whose time is over is not sent, though a stream is free: its process may have been stopped meanwhile")
  func late() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      try await apns.connected(client, on: reactor)
      #expect(
        await client.send(try APNSRequest.make(), to: .production, until: Reactor.now, on: reactor).isNotProcessed)
      #expect(client.pushes(to: .production) == (0, 0))
      #expect(await client.send(try APNSRequest.make(1), to: .production, on: reactor).disposition == .accepted)
      #expect(apns.requests.count == 1)
      client.close(on: reactor)
    }
  }

  @Test("is asked when the stream is had: what waited behind one that was refused is withdrawn, and reaches nobody")
  func queue() async throws {
    try await ScriptedAPNs.run { apns, client, reactor in
      apns.reply = { _ in .wait }
      let gate = Gate()
      var withdrawn = 0
      let done = Signal()
      for number in 0..<100 {
        let request = try APNSRequest.make(number)
        reactor.start {
          let attempt = await client.send(
            request, to: .production, until: Reactor.now + 10_000_000_000, permit: PushPermit(from: gate, number: 0),
            on: reactor)
          if attempt == .withdrawn { withdrawn += 1 }
          done.signal(on: reactor)
        }
      }
      try await apns.received(1, on: reactor)
      gate.isOpen = false
      apns.answer(apns.requests[0], 403, #"{"reason":"InvalidProviderToken"}"#, on: reactor)
      while withdrawn < 99 { try #require(await done.wait(for: .seconds(30), on: reactor)) }
      #expect(apns.requests.count == 1)
      #expect(client.pushes(to: .production) == (0, 0))
      gate.isOpen = true
      apns.reply = { _ in .answer(200, "") }
      #expect(await client.send(try APNSRequest.make(), to: .production, on: reactor).disposition == .accepted)
      client.close(on: reactor)
    }
  }
}

@Suite("What is counted of APNs' answers")
struct APNSMetricsTests {
  private let registry = PrometheusRegistry()

  private func lines() -> [Substring] {
    ExpositionText.make(registry.collect()).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  private static func route(_ environment: APNSEnvironment = .production) throws -> PushRoute {
    PushRoute(app: try BundleIdentifier("com.example.app"), environment: environment)
  }

  @Test(
    "an answer is counted by its status and reason, and its absence by what the connection did",
    arguments: [
      (.answered(APNSAnswer(status: 200)), #"status="200""#, #"reason="none""#),
      (.answered(APNSAnswer(status: 410, reason: "Unregistered")), #"status="410""#, #"reason="Unregistered""#),
      (.answered(APNSAnswer(status: 500)), #"status="500""#, #"reason="http_500""#),
      (.notProcessed(cause: "10.0.0.1"), #"status="none""#, #"reason="apns_unreachable""#),
      (.unknown(cause: "10.0.0.1"), #"status="none""#, #"reason="apns_answer_lost""#),
      (.refused("BadCertificate"), #"status="none""#, #"reason="BadCertificate""#),
    ] as [(APNSOutcome, String, String)])
  func answers(_ attempt: APNSOutcome, _ status: String, _ reason: String) throws {
    APNSMetrics(registry).answers(over: try Self.route()).count(attempt)
    let counted = lines().filter { $0.hasSuffix(" 1") }
    #expect(
      counted == [
        #"tacet_apns_answers_total{app="com.example.app",environment="production",\#(reason),\#(status)} 1"#[...]
      ])
  }

  @Test("routes are counted apart, and a route's successes are shown from the start")
  func routes() throws {
    let metrics = APNSMetrics(registry)
    for environment in APNSEnvironment.allCases { _ = metrics.answers(over: try Self.route(environment)) }
    metrics.answers(over: try Self.route(.sandbox)).count(.answered(APNSAnswer(status: 200)))
    #expect(lines().map { $0.suffix(2) } == [" 0", " 1"])
  }

  @Test("a reason is cut, and any number of them is counted")
  func bounded() throws {
    let answers = APNSMetrics(registry).answers(over: try Self.route())
    answers.count(.answered(APNSAnswer(status: 400, reason: APNSReason(rawValue: String(repeating: "x", count: 1000)))))
    #expect(lines().contains { $0.contains("\"\(String(repeating: "x", count: 64))\"") })
    for _ in 0..<2 {
      for number in 0..<100 {
        answers.count(.answered(APNSAnswer(status: 400, reason: APNSReason(rawValue: "R\(number)"))))
      }
    }
    let sum = lines().compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    #expect(sum == 201)
  }

  @Test("a router counts the answers of its clients")
  func router() async throws {
    try await onReactor { [registry] reactor in
      let server = try ScriptedAPNs()
      try server.start(on: reactor)
      let client = try await server.client()
      let route = try Self.route()
      let router = APNSRouter([route.app: client], metrics: APNSMetrics(registry))
      for number in 0..<3 {
        _ = await router.send(try .make(number), over: route, until: Reactor.now + 10_000_000_000, on: reactor)
      }
      #expect(client.pushes(to: .production) == (0, 0))
      router.close(on: reactor)
      try await server.closed(1, on: reactor)
    }
    #expect(
      lines() == [
        #"tacet_apns_answers_total{app="com.example.app",environment="production",reason="none",status="200"} 3"#
      ])
  }
}
