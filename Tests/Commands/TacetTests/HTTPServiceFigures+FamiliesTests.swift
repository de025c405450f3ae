import HTTPTypes
import PrometheusMetrics
import Testing

@testable import HTTP1
@testable import tacet

@Suite("Figures of the HTTP service")
struct HTTPServiceFiguresFamiliesTests {
  @Test("every reason has a line from the start, and every answer its route's pattern")
  func lines() {
    var figures = HTTPServiceFigures()
    figures.accepted = 7
    figures.open = 2
    figures.turnedAway = [.peer: 3]
    figures.failedHandshakes = 1
    let webhook = HTTPOperation(method: .post, pattern: "/v1/webhooks/{kind}")
    figures.answers = [.init(webhook, status: 503): 4, .init(webhook, status: 200): 5, .init(nil, status: 404): 6]
    let text = ExpositionText.make(HTTPServiceFigures.families(of: figures))
    #expect(
      text.split(separator: "\n").filter { !$0.hasPrefix("#") } == [
        "tacet_http_connections_accepted_total 7",
        "tacet_http_connections_open 2",
        "tacet_http_connections_turned_away_total{reason=\"descriptors\"} 0",
        "tacet_http_connections_turned_away_total{reason=\"full\"} 0",
        "tacet_http_connections_turned_away_total{reason=\"peer\"} 3",
        "tacet_http_responses_total{method=\"POST\",route=\"/v1/webhooks/{kind}\",status=\"200\"} 5",
        "tacet_http_responses_total{method=\"POST\",route=\"/v1/webhooks/{kind}\",status=\"503\"} 4",
        "tacet_http_responses_total{method=\"none\",route=\"none\",status=\"404\"} 6",
        "tacet_http_tls_handshake_failures_total 1",
      ])
  }
}
