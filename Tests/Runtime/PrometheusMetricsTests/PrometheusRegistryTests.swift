import CoreMetrics
import Dispatch
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

@Suite("What is counted in")
struct MetricCellsTests {
  @Test("a counter grows by what is positive alone")
  func counter() {
    let cell = CounterCell()
    for amount in [1, 5, 0, -3] as [Int64] { cell.increment(by: amount) }
    #expect(cell.value == 6)
    cell.reset()
    #expect(cell.value == 0)
  }

  @Test("a gauge has its latest value")
  func gauge() {
    let cell = GaugeCell()
    #expect(cell.value == 0)
    cell.record(2.5)
    #expect(cell.value == 2.5)
    cell.record(Int64(-7))
    #expect(cell.value == -7)
    cell.set(Int64(3))
    cell.increment(by: 1.5)
    cell.decrement(by: 4)
    #expect(cell.value == 0.5)
    cell.set(2.5)
    #expect(cell.value == 2.5)
  }

  @Test(
    "an observation falls into the bucket of the least bound that it does not exceed",
    arguments: [
      (-1, 0), (0, 0), (0.9, 0), (1, 0), (1.0000001, 1), (2, 1), (2.1, 2), (4, 2), (4.1, 3), (.infinity, 3),
      (-.infinity, 0),
    ] as [(Double, Int)])
  func buckets(_ value: Double, _ bucket: Int) {
    let cell = HistogramCell(bounds: [1, 2, 4])
    cell.record(value)
    #expect(cell.figures.counts.firstIndex(of: 1) == bucket)
    #expect(cell.figures.counts.reduce(0, +) == 1)
    #expect(cell.figures.sum == value)
  }

  @Test("a time on a bound is within it, a nanosecond more is not")
  func edges() {
    for bound in HistogramBounds.fine {
      let cell = HistogramCell(bounds: [bound])
      let nanoseconds = Int64((bound * 1e9).rounded())
      cell.recordNanoseconds(nanoseconds)
      cell.recordNanoseconds(nanoseconds + 1)
      #expect(cell.figures.counts == [1, 1], "\(bound)")
    }
  }

  @Test("what is no number is not counted")
  func noNumber() {
    let cell = HistogramCell(bounds: [1])
    cell.record(.nan)
    #expect(cell.figures == HistogramFigures(bounds: [1], counts: [0, 0], sum: 0))
  }

  @Test("nothing is lost when many threads count at once")
  func threads() {
    let (counter, histogram) = (CounterCell(), HistogramCell(bounds: [0.5, 1.5]))
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for number in 0..<10_000 {
        counter.increment(by: 1)
        histogram.record(Int64(number % 2))
      }
    }
    #expect(counter.value == 80_000)
    #expect(histogram.figures.counts == [40_000, 40_000, 0])
    #expect(histogram.figures.sum == 40_000)
  }
}

@Suite("Labels")
struct MetricLabelsTests {
  @Test("the order in which labels are given does not matter, and the last of a name counts")
  func order() {
    #expect(MetricLabels([("b", "2"), ("a", "1")]) == MetricLabels([("a", "1"), ("b", "2")]))
    #expect(MetricLabels([("a", "1"), ("a", "2")]) == ["a": "2"])
    #expect(MetricLabels([("x.y", "1"), ("x_y", "2")]) == ["x_y": "2"])
    #expect(MetricLabels([]) == .none)
  }

  @Test("they are sorted by the first that differs; fewer come first")
  func sorted() {
    let labels: [MetricLabels] = [["a": "2"], ["a": "1", "b": "9"], ["a": "1"], ["b": "0"], .none]
    #expect(labels.sorted() == [.none, ["a": "1"], ["a": "1", "b": "9"], ["a": "2"], ["b": "0"]])
  }
}

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

@Suite("Bounds of buckets")
struct HistogramBoundsTests {
  @Test("the fine ones are as near as their promise says, on both sides of each edge")
  func steps() {
    let bounds = HistogramBounds.fine
    #expect(bounds.count == 73)
    #expect(bounds.first == 0.00025 && bounds.last == 60)
    for (low, high) in zip(bounds, bounds.dropFirst()) {
      let widest =
        switch high {
        case ...0.004: 0.00025
        case ...0.01: 0.0005
        case ...0.02: 0.001
        default: low * 0.34
        }
      #expect(high - low <= widest + 1e-12, "\(low) to \(high)")
    }
  }
}
