import HTTPServing

extension MetricsText {
  /// The figures of the HTTP service. Labels have few values: reasons, and the statuses that were answered.
  static func text(of http: HTTPServiceFigures) -> String {
    let turnedAway = HTTPServiceFigures.TurnAway.allCases.map { (label: $0.rawValue, count: http.turnedAway[$0] ?? 0) }
    let responses = http.responses.sorted { $0.key < $1.key }.map { (label: String($0.key), count: $0.value) }
    return single("tacet_http_connections_accepted_total", "HTTP connections let in.", http.accepted)
      + single("tacet_http_connections_open", "HTTP connections open.", http.open, type: "gauge")
      + labelled(
        "tacet_http_connections_turned_away_total", "HTTP connections not let in, by reason.", "reason", turnedAway)
      + single("tacet_http_tls_handshake_failures_total", "TLS handshakes that failed.", http.failedHandshakes)
      + labelled("tacet_http_responses_total", "HTTP answers, refusals among them.", "status", responses)
  }

  private static func single(_ name: String, _ help: String, _ value: Int, type: String = "counter") -> String {
    head(name, help, type: type) + "\(name) \(value)\n"
  }

  private static func labelled(
    _ name: String, _ help: String, _ label: String, _ values: [(label: String, count: Int)]
  ) -> String {
    head(name, help) + values.map { "\(name){\(label)=\"\($0.label)\"} \($0.count)\n" }.joined()
  }
}
