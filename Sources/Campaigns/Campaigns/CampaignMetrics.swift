package import CoreMetrics
internal import PushRules
internal import PushStore

/// Counts what campaigns do.
///
/// | family | labels | counts |
/// |---|---|---|
/// | `tacet_campaign_occasions_total` | `campaign`, `status`, `reason` | occasions that were due; a queued push has the status `sent` and the reason `none` |
/// | `tacet_campaign_enrolment_failures_total` | `campaign` | failed tries to serve an hour of a zone or to read an audience |
/// | `tacet_slot_codes_total` | `campaign`, `code` | what happened to slots: fetches, texts, and what devices report |
package final class CampaignMetrics {
  private let factory: any MetricsFactory

  package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) { self.factory = factory }

  /// Counts what has become of an occasion that was due. Of one that was lost, the process that takes it over does.
  func count(_ end: OccasionEnd, of occasion: Occasion) {
    let campaign = occasion.campaign
    let dimensions = [("campaign", campaign), ("status", end.status), ("reason", end.reason ?? "none")]
    Counter(label: "tacet_campaign_occasions_total", dimensions: dimensions, factory: factory).increment()
    // A series that starts with its first failure has no rate.
    countFailedEnrolment(times: 0, of: campaign)
    if !occasion.slot.isEmpty { countCode("TEMPLATE_MISSING_TOKEN", times: 0, of: campaign) }
  }

  /// Counts a failed try. The hour stays due.
  func countFailedEnrolment(times count: Int = 1, of campaign: String) {
    Counter(label: "tacet_campaign_enrolment_failures_total", dimensions: [("campaign", campaign)], factory: factory)
      .increment(by: count)
  }

  /// Counts something that happened to slots of a campaign.
  /// - Parameter code: one of a known set, such as `FETCH_TIMEOUT`.
  package func countCode(_ code: String, times count: Int = 1, of campaign: String) {
    let dimensions = [("campaign", campaign), ("code", code)]
    Counter(label: "tacet_slot_codes_total", dimensions: dimensions, factory: factory).increment(by: count)
  }
}
