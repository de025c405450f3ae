public import CoreMetrics
internal import PushStore

/// Counts what becomes of pushes, and how long they take. One for each pipeline, on its reactor.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_outcomes_total` | `kind`, `decision`, `reason` | recorded outcomes of recipients; a plain success has the reason `none` |
/// | `tacet_push_latency_seconds` | `stage` | recipients of new events, from the event's commit until it was claimed, decided, and first accepted by APNs |
/// | `tacet_messages_discarded_total` | | messages that were too old when they were inserted |
/// | `tacet_releases_queued_total` | | releases of holds that a host's transaction left to the service |
///
/// Kinds and reasons are texts that others may choose, so the backend must bound a family's series.
public final class PipelineMetrics {
  private struct Outcome: Hashable {
    let kind: String
    let decision: OutcomeDecision
    let reason: String?
  }

  /// Handles that are kept: the usual outcomes are some dozens. What comes beyond is found in the backend each time.
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

  /// Makes the handles of every latency; those of outcomes are made when one is first met.
  /// - Parameter factory: where the figures go; by default nowhere.
  public init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
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

  /// Takes how many messages were discarded for their age.
  func noteDiscarded(_ count: Int) { discarded.increment(by: count) }

  /// Takes how many releases were made for host's transactions that could not.
  func noteQueuedReleases(_ count: Int) { queuedReleases.increment(by: count) }

  /// Takes what was recorded.
  func note(_ decided: DecidedEvent) {
    for outcome in decided.outcomes {
      counter(Outcome(kind: decided.event.subject.kind, decision: outcome.decision, reason: outcome.reason)).increment()
      // What was held or put off is late on purpose.
      if decided.event.origin == .inbox { note(outcome, of: decided.event) }
    }
  }

  /// The commit and the claim are dated by the database, and the outcome's times count from the claim's date. A commit's date is taken before it, so none of them is negative unless its clock was set.
  private func note(_ outcome: RecipientOutcome, of event: PushEvent) {
    let dated = event.claimedAt - event.enqueuedAt
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
