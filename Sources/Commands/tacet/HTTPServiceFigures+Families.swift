import HTTPServing
import HTTPTypes
import PrometheusMetrics

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
