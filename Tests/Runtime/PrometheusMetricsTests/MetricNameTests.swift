import Testing

@testable import PrometheusMetrics

@Suite("Names for Prometheus")
struct MetricNameTests {
  @Test(
    "what is not allowed in a family's name becomes an underscore",
    arguments: [
      ("tacet_outcomes_total", "tacet_outcomes_total"), ("a:b", "a:b"), ("http.requests", "http_requests"),
      ("aZ09", "aZ09"), ("9lives", "_9lives"), ("", "_"), ("grün", "gr_n"), ("a b\n{}", "a_b___"),
    ])
  func families(_ text: String, _ name: String) {
    #expect(MetricName.family(text) == name)
  }

  @Test(
    "a label's name has no colon, and le is the histogram's",
    arguments: [("route", "route"), ("a:b", "a_b"), ("le", "le_"), ("Le", "Le"), ("0", "_0"), ("", "_")])
  func labels(_ text: String, _ name: String) {
    #expect(MetricName.label(text) == name)
  }
}
