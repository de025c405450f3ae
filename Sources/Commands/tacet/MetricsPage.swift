import HTTP1
import HTTPTypes
import PrometheusMetrics
import PushStore
import Reactors

/// What `/metrics` shows: what was counted, and what is read at each scrape.
struct MetricsPage: Sendable {
  let registry: PrometheusRegistry
  let workers: PerReactor<ReactorWorker>
  let meter: HTTPServiceMeter

  /// The page as text. Takes as long as its slowest part, the database, which has two seconds at the most.
  func text() async -> String {
    var figures: [ReactorFigures] = []
    for worker in workers.all { figures.append(await worker.perform { $0.figures(on: $1) }) }
    let process = await workers.all[0].perform { await $0.processWideFigures(on: $1) }
    return ExpositionText.make(
      registry.collect() + ReactorFigures.families(of: figures) + (process?.families ?? [])
        + HTTPServiceFigures.families(of: await meter.read()) + ProcessFigures.current().families
        + [Self.buildInformation])
  }

  private static var buildInformation: MetricFamily {
    var family = MetricFamily("tacet_build_info", "Always 1; the labels say what runs.", .gauge)
    family.add(.integer(1), ["version": BuildInformation.version])
    return family
  }
}

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
      "tacet_push_answers_total",
      "Attempts over Web Push and FCM that have ended; without an answer the status is none and the reason says why.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_decisions_total",
      "Users whom campaigns looked at; a push that was queued has the decision committed and the reason none.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_slot_failures_total", "Hours of a campaign in a zone that could not be served, each try.",
      .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_slot_rows_total", "Rows of slots that were due, by what became of them.", .counter, seriesMax: 512),
    MetricDescription(
      "tacet_slot_codes_total", "What happened to slots of campaigns, such as fetches of content, by code.", .counter,
      seriesMax: 512),
    MetricDescription(
      "tacet_host_events_total", "Attempts at events for the host, by what has become of the event.", .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_http_request_duration_seconds", "From a request's head to its answer.", bounds: HistogramBounds.usual),
  ]
}

extension HTTPServiceFigures {
  /// The label of answers to requests that were for no route.
  private static let none = "none"

  /// The figures of the HTTP service. Labels have few values: reasons, routes as patterns, and the statuses that were
  /// answered.
  static func families(of figures: HTTPServiceFigures) -> [MetricFamily] {
    [
      MetricFamily(
        "tacet_http_connections_accepted_total", "HTTP connections let in.", .counter,
        .integer(Int64(figures.accepted))),
      MetricFamily("tacet_http_connections_open", "HTTP connections open.", .gauge, .integer(Int64(figures.open))),
      MetricFamily(
        "tacet_http_tls_handshake_failures_total", "TLS handshakes that failed.", .counter,
        .integer(Int64(figures.failedHandshakes))),
      turnedAway(figures), responses(figures),
    ]
  }

  private static func turnedAway(_ figures: HTTPServiceFigures) -> MetricFamily {
    var family = MetricFamily(
      "tacet_http_connections_turned_away_total", "HTTP connections not let in, by reason.", .counter)
    for reason in TurnAway.allCases {
      family.add(.integer(Int64(figures.turnedAway[reason] ?? 0)), ["reason": reason.rawValue])
    }
    return family
  }

  private static func responses(_ figures: HTTPServiceFigures) -> MetricFamily {
    var family = MetricFamily(
      "tacet_http_responses_total", "HTTP answers, refusals among them, by the route's pattern.", .counter)
    for (answer, count) in figures.answers {
      let labels: MetricLabels = [
        "method": answer.operation?.method.rawValue ?? none, "route": answer.operation?.pattern ?? none,
        "status": "\(answer.status)",
      ]
      family.add(.integer(Int64(count)), labels)
    }
    return family
  }
}
