package import CoreMetrics
internal import PushRules
internal import PushStore

/// Counts the outcomes of pushes, and how long they take. One for each pipeline, on its reactor.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_outcomes_total` | `kind`, `decision`, `reason` | recorded outcomes of recipients; a plain success has the reason `none` |
/// | `tacet_push_latency_seconds` | `stage` | recipients of new events, from the event's commit until it was claimed, decided, and first accepted by APNs |
/// | `tacet_push_answers_total` | `route`, `status`, `reason` | ends of attempts over other channels than APNs, which counts its own; without an answer the status is `none` |
/// | `tacet_messages_discarded_total` | | messages that were too old when they were inserted |
/// | `tacet_releases_queued_total` | | releases of holds that a host's transaction left to the service |
///
/// Hosts and push services choose kinds and reasons, so the backend must bound a family's series.
package final class PipelineMetrics {
  private struct Outcome: Hashable {
    let kind: String
    let decision: OutcomeDecision
    let reason: String?
  }

  /// Handles that are kept: the usual outcomes are some dozens. Further ones come from the backend each time.
  private static let handlesMax = 256

  private let factory: any MetricsFactory
  private var outcomes: [Outcome: Counter] = [:]
  /// Most outcomes are like the one before, and then nothing is looked up.
  private var latest: (outcome: Outcome, counter: Counter)?
  private let claimed: Timer
  private let decided: Timer
  private let accepted: Timer
  private let discarded: Counter
  private let queuedReleases: Counter

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
    func latency(_ stage: String) -> Timer {
      Timer(label: "tacet_push_latency_seconds", dimensions: [("stage", stage)], factory: factory)
    }
    claimed = latency("claimed")
    decided = latency("decided")
    accepted = latency("accepted")
    discarded = Counter(label: "tacet_messages_discarded_total", factory: factory)
    queuedReleases = Counter(label: "tacet_releases_queued_total", factory: factory)
  }

  /// Counts messages that were discarded for their age.
  func countDiscarded(_ count: Int) { discarded.increment(by: count) }

  /// Counts releases that a host's transaction could not make.
  func countQueuedReleases(_ count: Int) { queuedReleases.increment(by: count) }

  /// Counts the end of an attempt over another channel than APNs.
  func count(_ attempt: DeliveryAttempt, over route: DeliveryRoute) {
    let dimensions = [
      ("route", route.name), ("status", attempt.status.map(String.init) ?? "none"),
      ("reason", attempt.ledgerReason ?? "none"),
    ]
    Counter(label: "tacet_push_answers_total", dimensions: dimensions, factory: factory).increment()
  }

  func count(_ decided: DecidedEvent) {
    for outcome in decided.outcomes {
      counter(Outcome(kind: decided.event.subject.kind, decision: outcome.decision, reason: outcome.reason)).increment()
      // A held or postponed push is late on purpose.
      if decided.event.origin == .inbox { measure(outcome, of: decided.event) }
    }
  }

  /// The database dates the commit and the claim, and the outcome's times count from the claim's date. A commit's date is taken
  /// before it, so a time is negative only when the database's clock was set.
  private func measure(_ outcome: RecipientOutcome, of event: PushEvent) {
    let dated = event.claimedAt - max(event.enqueuedAt, event.datedAt)
    claimed.recordMicroseconds(max(0, dated))
    decided.recordMicroseconds(max(0, dated + outcome.decidedMicroseconds))
    if let elapsed = outcome.acceptedMicroseconds { accepted.recordMicroseconds(max(0, dated + elapsed)) }
  }

  private func counter(_ outcome: Outcome) -> Counter {
    if let latest, latest.outcome == outcome { return latest.counter }
    let counter = outcomes[outcome] ?? make(outcome)
    latest = (outcome, counter)
    return counter
  }

  private func make(_ outcome: Outcome) -> Counter {
    let dimensions = [
      ("kind", outcome.kind), ("decision", outcome.decision.rawValue), ("reason", outcome.reason ?? "none"),
    ]
    let made = Counter(label: "tacet_outcomes_total", dimensions: dimensions, factory: factory)
    if outcomes.count < Self.handlesMax { outcomes[outcome] = made }
    return made
  }
}
