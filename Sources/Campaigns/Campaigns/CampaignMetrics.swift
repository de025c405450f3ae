package import CoreMetrics

/// Counts what campaigns decide.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_campaign_decisions_total` | `campaign`, `decision`, `reason` | decided turns; a queued push has the decision `committed` and the reason `none` |
/// | `tacet_campaign_slot_failures_total` | `campaign` | failed tries to serve an hour of a zone or to read an audience |
/// | `tacet_slot_rows_total` | `campaign`, `status`, `reason` | rows of slots that were due; a queued push has the status `sent` and the reason `none` |
/// | `tacet_slot_codes_total` | `campaign`, `code` | what happened to slots: fetches, texts, and what devices report |
package final class CampaignMetrics {
  private let factory: any MetricsFactory

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) {
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

  func countRow(status: String, reason: String?, of campaign: String) {
    let dimensions = [("campaign", campaign), ("status", status), ("reason", reason ?? "none")]
    Counter(label: "tacet_slot_rows_total", dimensions: dimensions, factory: factory).increment()
    // A series that starts with its first failure has no rate.
    countCode("TEMPLATE_MISSING_TOKEN", times: 0, of: campaign)
  }

  /// Counts something that happened to slots of a campaign.
  /// - Parameter code: one of a known set, such as `FETCH_TIMEOUT`.
  package func countCode(_ code: String, times count: Int = 1, of campaign: String) {
    let dimensions = [("campaign", campaign), ("code", code)]
    Counter(label: "tacet_slot_codes_total", dimensions: dimensions, factory: factory).increment(by: count)
  }

  private func failedSlots(of campaign: String) -> Counter {
    Counter(label: "tacet_campaign_slot_failures_total", dimensions: [("campaign", campaign)], factory: factory)
  }
}
