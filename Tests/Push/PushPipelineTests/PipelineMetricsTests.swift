import PrometheusMetrics
import PushRules
import Testing

@testable import PushPipeline
@testable import PushStore

@Suite("What pipelines count")
struct PipelineMetricsTests {
  private let registry = PrometheusRegistry([
    MetricDescription("tacet_push_latency_seconds", "", bounds: [0.001, 0.002, 0.004, 0.008])
  ])

  private func lines(of name: String) -> [Substring] {
    ExpositionText.make(registry.collect()).split(separator: "\n").filter { $0.hasPrefix(name) }
  }

  /// An event that was committed, claimed a millisecond later, and answered half of one after that.
  private func decided(
    _ outcomes: [RecipientOutcome], origin: PushEvent.Origin = .inbox, kind: String = "message"
  ) -> DecidedEvent {
    DecidedEvent(
      event: PushFixtures.dated(origin: origin, kind: kind, claimedAfter: 1000, answeredAfter: 1500),
      outcomes: outcomes,
      deadTargets: [], wokenBy: "notify")
  }

  private func outcome(
    _ decision: OutcomeDecision, _ reason: String? = nil, decided: Int64 = 100, accepted: Int64? = nil
  ) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: PushFixtures.user, decision: decision, reason: reason)
    outcome.decidedMicroseconds = decided
    outcome.acceptedMicroseconds = accepted
    return outcome
  }

  @Test("outcomes are counted by kind, decision and reason; a plain success has the reason none")
  func outcomes() {
    let metrics = PipelineMetrics(registry)
    metrics.count(decided([outcome(.sent), outcome(.sent), outcome(.skipped, "muted")]))
    metrics.count(decided([outcome(.sent)], origin: .delivery, kind: "invitation"))
    #expect(
      lines(of: "tacet_outcomes_total") == [
        #"tacet_outcomes_total{decision="sent",kind="invitation",reason="none"} 1"#,
        #"tacet_outcomes_total{decision="sent",kind="message",reason="none"} 2"#,
        #"tacet_outcomes_total{decision="skipped",kind="message",reason="muted"} 1"#,
      ])
  }

  @Test("pipelines of one registry count together")
  func together() {
    for metrics in [PipelineMetrics(registry), PipelineMetrics(registry)] { metrics.count(decided([outcome(.sent)])) }
    #expect(lines(of: "tacet_outcomes_total").map { $0.suffix(2) } == [" 2"])
  }

  @Test("each stage is timed from the commit; outcomes count from the claim's date")
  func stages() {
    PipelineMetrics(registry).count(decided([outcome(.sent, decided: 100, accepted: 5000)]))
    let sums = lines(of: "tacet_push_latency_seconds_sum")
    #expect(
      sums == [
        #"tacet_push_latency_seconds_sum{stage="accepted"} 0.006"#,
        #"tacet_push_latency_seconds_sum{stage="claimed"} 0.001"#,
        #"tacet_push_latency_seconds_sum{stage="decided"} 0.0011"#,
      ])
    #expect(lines(of: "tacet_push_latency_seconds_count").allSatisfy { $0.hasSuffix(" 1") })
  }

  @Test("what nobody accepted has no time of acceptance, and what was held or put off has none at all")
  func untimed() {
    let metrics = PipelineMetrics(registry)
    metrics.count(decided([outcome(.held, "user_viewing")]))
    metrics.count(decided([outcome(.sent, accepted: 100)], origin: .delivery))
    #expect(lines(of: "tacet_push_latency_seconds_count").map { $0.suffix(2) } == [" 0", " 1", " 1"])
  }

  @Test("a clock that was set back makes no negative time")
  func clock() {
    let event = PushFixtures.dated(origin: .inbox, kind: "message", claimedAfter: -5000, answeredAfter: -4000)
    PipelineMetrics(registry).count(
      DecidedEvent(event: event, outcomes: [outcome(.sent, accepted: 10)], deadTargets: [], wokenBy: "notify"))
    #expect(lines(of: "tacet_push_latency_seconds_sum").allSatisfy { $0.hasSuffix(" 0") })
  }

  @Test("more outcomes than the handles that are kept are counted none the less")
  func many() {
    let metrics = PipelineMetrics(registry)
    for _ in 0..<2 {
      for number in 0..<300 { metrics.count(decided([outcome(.failed, "reason_\(number)")])) }
    }
    let sum = lines(of: "tacet_outcomes_total").compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    #expect(sum.reduce(0, +) == 600)
  }
}

extension PushFixtures {
  /// An event whose claim has these dates, in microseconds after its commit.
  static func dated(
    origin: PushEvent.Origin, kind: String, claimedAfter: Int64, answeredAfter: Int64, recipients: [PushRecipient] = []
  ) -> PushEvent {
    let committed: Int64 = 1_700_000_000_000_000
    var event = PushEvent(
      subject: PushSubject(id: messageID, kind: kind), origin: origin, attempts: 1, enqueuedAt: committed,
      claimedAt: committed + claimedAfter, content: nil, datedAt: committed, recipients: recipients)
    event.answeredAt = committed + answeredAfter
    return event
  }
}
