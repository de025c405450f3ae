import PrometheusMetrics
import Reactors
import TestReactors
import Testing

@testable import Channels
@testable import PushRules

@Suite("An attempt")
struct PushAttemptTests {
  @Test(
    "its reason is APNs' word, the status without one, or what the connection did",
    arguments: [
      (PushAttempt.answered(PushAnswer(status: 200)), nil),
      (.answered(PushAnswer(status: 410, reason: "Unregistered")), "Unregistered"),
      (.answered(PushAnswer(status: 502)), "http_502"),
      (.failed(.notProcessed(cause: "x")), "apns_unreachable"),
      (.failed(.unknown(cause: "x")), "apns_answer_lost"),
      (.refused("BadCertificate"), "BadCertificate"),
    ])
  func reasons(attempt: PushAttempt, reason: String?) {
    #expect(attempt.reason == reason)
  }

  @Test(
    "a connection is proved by what APNs takes, and by what it refuses for the push's or the device's sake",
    arguments: [
      (200, nil, true), (410, "Unregistered", true), (400, "BadDeviceToken", true), (413, "PayloadTooLarge", true),
      (400, "BadTopic", true), (429, "TooManyRequests", true), (429, "TooManyProviderTokenUpdates", false),
      (403, "InvalidProviderToken", false), (403, "ExpiredProviderToken", false), (503, "Shutdown", false),
      (500, "InternalServerError", false), (502, nil, false),
    ] as [(Int, PushReason?, Bool)])
  func proofs(status: Int, reason: PushReason?, provesConnection: Bool) {
    #expect(PushAttempt.answered(PushAnswer(status: status, reason: reason)).provesConnection == provesConnection)
  }

  @Test("a connection is not proved by a push that was not answered")
  func noProofs() {
    #expect(!PushAttempt.failed(.unknown(cause: "x")).provesConnection)
    #expect(!PushAttempt.failed(.notProcessed(cause: "x")).provesConnection)
    #expect(!PushAttempt.refused("BadCertificate").provesConnection)
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
        await client.send(try PushRequest.make(), to: .production, until: Reactor.now, on: reactor).isNotProcessed)
      #expect(client.pushes(to: .production) == (0, 0))
      #expect(await client.send(try PushRequest.make(1), to: .production, on: reactor).disposition == .accepted)
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
        let request = try PushRequest.make(number)
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
      while withdrawn < 99 { try #require(await done.wait(for: .seconds(5), on: reactor)) }
      #expect(apns.requests.count == 1)
      #expect(client.pushes(to: .production) == (0, 0))
      gate.isOpen = true
      apns.reply = { _ in .answer(200, "") }
      #expect(await client.send(try PushRequest.make(), to: .production, on: reactor).disposition == .accepted)
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
      (.answered(PushAnswer(status: 200)), #"status="200""#, #"reason="none""#),
      (.answered(PushAnswer(status: 410, reason: "Unregistered")), #"status="410""#, #"reason="Unregistered""#),
      (.answered(PushAnswer(status: 500)), #"status="500""#, #"reason="http_500""#),
      (.failed(.notProcessed(cause: "10.0.0.1")), #"status="none""#, #"reason="apns_unreachable""#),
      (.failed(.unknown(cause: "10.0.0.1")), #"status="none""#, #"reason="apns_answer_lost""#),
      (.refused("BadCertificate"), #"status="none""#, #"reason="BadCertificate""#),
    ] as [(PushAttempt, String, String)])
  func answers(_ attempt: PushAttempt, _ status: String, _ reason: String) throws {
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
    metrics.answers(over: try Self.route(.sandbox)).count(.answered(PushAnswer(status: 200)))
    #expect(lines().map { $0.suffix(2) } == [" 0", " 1"])
  }

  @Test("a reason is cut, and any number of them is counted")
  func bounded() throws {
    let answers = APNSMetrics(registry).answers(over: try Self.route())
    answers.count(.answered(PushAnswer(status: 400, reason: PushReason(rawValue: String(repeating: "x", count: 1000)))))
    #expect(lines().contains { $0.contains("\"\(String(repeating: "x", count: 64))\"") })
    for _ in 0..<2 {
      for number in 0..<100 {
        answers.count(.answered(PushAnswer(status: 400, reason: PushReason(rawValue: "R\(number)"))))
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
