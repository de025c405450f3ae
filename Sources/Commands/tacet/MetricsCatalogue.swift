import PrometheusMetrics

/// The families that are counted where things happen, each with its help and bounds. What is read at a scrape is described
/// where it is read.
enum MetricsCatalogue {
  static let counted = [
    MetricDescription(
      "tacet_outcomes_total", "Recorded outcomes of recipients; a plain success has the reason none.", .counter,
      seriesMax: 256),
    MetricDescription(
      "tacet_push_latency_seconds",
      """
      From an event's commit until it was claimed, decided and first accepted by APNs, for each recipient of a new event.
      """,
      bounds: HistogramBounds.fine),
    MetricDescription(
      "tacet_messages_discarded_total",
      "Messages that were older than MESSAGE_TTL_SECONDS when they were inserted: nobody is told of them.", .counter),
    MetricDescription(
      "tacet_releases_queued_total",
      "Releases of holds that a host's transaction left to the service, because its snapshot was too old.", .counter),
    MetricDescription(
      "tacet_apns_answers_total",
      "Requests to APNs that have ended; without an answer the status is none and the reason says why.", .counter,
      seriesMax: 256),
    MetricDescription(
      "tacet_campaign_decisions_total",
      "Users whom campaigns looked at; a push that was queued has the decision committed and the reason none.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_slot_failures_total", "Hours of a campaign in a zone that could not be served, each try.",
      .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_http_request_duration_seconds", "From a request's head to its answer.", bounds: HistogramBounds.usual),
  ]
}
