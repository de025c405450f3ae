import Testing

@testable import PrometheusMetrics

@Suite("Labels")
struct MetricLabelsTests {
  @Test("the order in which labels are given does not matter, and the last of a name counts")
  func order() {
    #expect(MetricLabels([("b", "2"), ("a", "1")]) == MetricLabels([("a", "1"), ("b", "2")]))
    #expect(MetricLabels([("a", "1"), ("a", "2")]) == ["a": "2"])
    #expect(MetricLabels([("x.y", "1"), ("x_y", "2")]) == ["x_y": "2"])
    #expect(MetricLabels([]) == .none)
  }

  @Test("a value is found by its name")
  func value() {
    let labels: MetricLabels = ["state": "idle"]
    #expect(labels["state"] == "idle")
    #expect(labels["lane"] == nil)
  }

  @Test("they are sorted by the first that differs; fewer come first")
  func sorted() {
    let labels: [MetricLabels] = [["a": "2"], ["a": "1", "b": "9"], ["a": "1"], ["b": "0"], .none]
    #expect(labels.sorted() == [.none, ["a": "1"], ["a": "1", "b": "9"], ["a": "2"], ["b": "0"]])
  }
}
