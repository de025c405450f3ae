import HTTPServing
import Testing

@testable import tacet

@Suite("Figures of the HTTP service as text")
struct MetricsTextTests {
  @Test("every reason has a line from the start, and every status that was answered")
  func lines() {
    var figures = HTTPServiceFigures()
    figures.accepted = 7
    figures.open = 2
    figures.turnedAway = [.peer: 3]
    figures.failedHandshakes = 1
    figures.responses = [503: 4, 200: 5]
    let lines = MetricsText.text(of: figures).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(
      lines == [
        "tacet_http_connections_accepted_total 7",
        "tacet_http_connections_open 2",
        "tacet_http_connections_turned_away_total{reason=\"full\"} 0",
        "tacet_http_connections_turned_away_total{reason=\"peer\"} 3",
        "tacet_http_connections_turned_away_total{reason=\"descriptors\"} 0",
        "tacet_http_tls_handshake_failures_total 1",
        "tacet_http_responses_total{status=\"200\"} 5",
        "tacet_http_responses_total{status=\"503\"} 4",
      ])
  }

  @Test("each name has its help and its type, once")
  func heads() {
    let lines = MetricsText.text(of: HTTPServiceFigures()).split(separator: "\n")
    let types = lines.filter { $0.hasPrefix("# TYPE ") }
    #expect(types.count == 5 && Set(types).count == 5)
    #expect(types.filter { $0.hasSuffix(" gauge") } == ["# TYPE tacet_http_connections_open gauge"])
    #expect(lines.filter { $0.hasPrefix("# HELP ") }.count == 5)
  }
}
