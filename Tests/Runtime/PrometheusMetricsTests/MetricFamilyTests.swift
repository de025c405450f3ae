import Testing

@testable import PrometheusMetrics

@Suite("Families")
struct MetricFamilyTests {
  private func family(_ samples: [(MetricLabels, Int64)]) -> MetricFamily {
    samples.reduce(into: MetricFamily("f", "Help.", .gauge)) { $0.add(.integer($1.1), $1.0) }
  }

  @Test("they are equal when they show the same, in whatever order it was added")
  func equal() {
    #expect(family([(["a": "1"], 1), (["a": "2"], 2)]) == family([(["a": "2"], 2), (["a": "1"], 1)]))
    #expect(family([(["a": "1"], 1)]) != family([(["a": "1"], 2)]))
    #expect(family([(["a": "1"], 1)]) != family([(["a": "2"], 1)]))
    #expect(family([]) != MetricFamily("f", "Another help.", .gauge))
    #expect(family([]) != MetricFamily("f", "Help.", .counter))
  }
}
