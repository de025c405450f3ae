import PrometheusMetrics
import PushRules
import Reactors
import TestReactors
import Testing

@testable import Channels

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
