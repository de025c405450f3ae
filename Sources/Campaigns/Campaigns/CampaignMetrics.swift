public import CoreMetrics

/// Counts what campaigns decide.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_campaign_decisions_total` | `campaign`, `decision`, `reason` | users looked at; a push that was queued has the decision `committed` and the reason `none` |
/// | `tacet_campaign_slot_failures_total` | `campaign` | hours of a zone that could not be served, and audiences that could not be read, each try |
public final class CampaignMetrics {
  private let factory: any MetricsFactory

  /// - Parameter factory: where the figures go; by default nowhere.
  public init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
    self.factory = factory
  }

  /// A turn that was lost is counted by whoever has it.
  func note(_ decision: TurnDecision, of campaign: String) {
    let (word, reason): (String, String)
    switch decision {
    case .committed: (word, reason) = ("committed", "none")
    case .skipped(let why): (word, reason) = ("skipped", why)
    case .failed(let why): (word, reason) = ("failed", why)
    case .lost: return
    }
    let dimensions = [("campaign", campaign), ("decision", word), ("reason", reason)]
    Counter(label: "tacet_campaign_decisions_total", dimensions: dimensions, factory: factory).increment()
    // A series that begins with its first failure has no rate.
    failedSlots(of: campaign).increment(by: 0)
  }

  /// The hour is due again.
  func noteFailedSlot(of campaign: String) {
    failedSlots(of: campaign).increment()
  }

  private func failedSlots(of campaign: String) -> Counter {
    Counter(label: "tacet_campaign_slot_failures_total", dimensions: [("campaign", campaign)], factory: factory)
  }
}
