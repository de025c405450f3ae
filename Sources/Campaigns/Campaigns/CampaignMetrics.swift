public import CoreMetrics

/// Counts what campaigns decide.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_campaign_decisions_total` | `campaign`, `decision`, `reason` | decided turns; a queued push has the decision `committed` and the reason `none` |
/// | `tacet_campaign_slot_failures_total` | `campaign` | failed tries to serve an hour of a zone or to read an audience |
public final class CampaignMetrics {
  private let factory: any MetricsFactory

  /// - Parameter factory: the destination of the figures; by default none.
  public init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
  }

  /// Counts a decision. The process that takes over a lost turn counts that one.
  func countDecision(_ decision: TurnDecision, of campaign: String) {
    let (word, reason): (String, String)
    switch decision {
    case .committed: (word, reason) = ("committed", "none")
    case .skipped(let why): (word, reason) = ("skipped", why)
    case .failed(let why): (word, reason) = ("failed", why)
    case .lost: return
    }
    let dimensions = [("campaign", campaign), ("decision", word), ("reason", reason)]
    Counter(label: "tacet_campaign_decisions_total", dimensions: dimensions, factory: factory).increment()
    // A series that starts with its first failure has no rate.
    failedSlots(of: campaign).increment(by: 0)
  }

  /// Counts a failed try. The hour stays due.
  func countFailedSlot(of campaign: String) {
    failedSlots(of: campaign).increment()
  }

  private func failedSlots(of campaign: String) -> Counter {
    Counter(label: "tacet_campaign_slot_failures_total", dimensions: [("campaign", campaign)], factory: factory)
  }
}
