import CoreMetrics
import Testing

@testable import PrometheusMetrics

@Suite("The registry as a backend of swift-metrics")
struct PrometheusRegistryTests {
  private func lines(_ registry: PrometheusRegistry) -> [Substring] {
    ExpositionText.make(registry.collect()).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  @Test("handles of one name and equal labels count together")
  func together() {
    let registry = PrometheusRegistry()
    let one = Counter(label: "c_total", dimensions: [("a", "1"), ("b", "2")], factory: registry)
    let other = Counter(label: "c_total", dimensions: [("b", "2"), ("a", "1")], factory: registry)
    one.increment()
    other.increment(by: 2)
    #expect(lines(registry) == ["c_total{a=\"1\",b=\"2\"} 3"])
  }

  @Test("a series stays when its handle is destroyed")
  func destroyed() {
    let registry = PrometheusRegistry()
    let counter = Counter(label: "c_total", factory: registry)
    counter.increment()
    counter.destroy()
    #expect(lines(registry) == ["c_total 1"])
  }

  @Test("each sort of handle is shown as what it is")
  func kinds() {
    let registry = PrometheusRegistry([
      MetricDescription("t_seconds", "Times.", bounds: [0.5]), MetricDescription("r", "Sizes.", bounds: [10]),
    ])
    Timer(label: "t_seconds", factory: registry).recordMilliseconds(500)
    Recorder(label: "r", factory: registry).record(11)
    Gauge(label: "g", factory: registry).record(2.5)
    Meter(label: "m", factory: registry).set(4)
    FloatingPointCounter(label: "f_total", factory: registry).increment(by: 2.5)
    #expect(
      lines(registry) == [
        "f_total 2", "g 2.5", "m 4", "r_bucket{le=\"10\"} 0", "r_bucket{le=\"+Inf\"} 1", "r_sum 11", "r_count 1",
        "t_seconds_bucket{le=\"0.5\"} 1", "t_seconds_bucket{le=\"+Inf\"} 1", "t_seconds_sum 0.5", "t_seconds_count 1",
      ])
  }

  @Test("what is described is shown before anything is counted, with its help and type")
  func described() {
    let registry = PrometheusRegistry([MetricDescription("c_total", "Help.", .counter)])
    #expect(ExpositionText.make(registry.collect()) == "# HELP c_total Help.\n# TYPE c_total counter\n")
  }

  @Test("a family has as many series as it may have, and one for all others")
  func bounded() {
    let registry = PrometheusRegistry([MetricDescription("c_total", "", .counter, seriesMax: 2)])
    for value in ["a", "b", "c", "d", "a"] {
      Counter(label: "c_total", dimensions: [("l", value), ("m", "x")], factory: registry).increment()
    }
    #expect(
      lines(registry) == [
        "c_total{l=\"a\",m=\"x\"} 2", "c_total{l=\"b\",m=\"x\"} 1", "c_total{l=\"other\",m=\"other\"} 2",
      ])
  }

  @Test("without a description the bound is that of every family")
  func boundedAnyway() {
    let registry = PrometheusRegistry()
    for number in 0..<200 { Counter(label: "c_total", dimensions: [("l", "\(number)")], factory: registry).increment() }
    #expect(lines(registry).count == MetricDescription.seriesMaxDefault + 1)
    #expect(lines(registry).contains("c_total{l=\"other\"} \(200 - MetricDescription.seriesMaxDefault)"))
  }
}
