import Testing

@testable import PrometheusMetrics

@Suite("The text format of Prometheus")
struct ExpositionTextTests {
  private func lines(_ family: MetricFamily) -> [Substring] {
    ExpositionText.make([family]).split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  private func gauge(_ value: MetricFamily.Value, _ labels: MetricLabels = .none) -> MetricFamily {
    var family = MetricFamily("g", "A gauge.", .gauge)
    family.add(value, labels)
    return family
  }

  @Test("a family is its help, its type and its series; families and series are sorted")
  func whole() {
    var second = MetricFamily("b_total", "Second.", .counter)
    second.add(.integer(2), ["x": "2"])
    second.add(.integer(1), ["x": "1", "y": "1"])
    second.add(.integer(0), ["x": "1"])
    let text = ExpositionText.make([second, MetricFamily("a", "First.", .gauge, .number(0.5))])
    #expect(
      text == """
        # HELP a First.
        # TYPE a gauge
        a 0.5
        # HELP b_total Second.
        # TYPE b_total counter
        b_total{x="1"} 0
        b_total{x="1",y="1"} 1
        b_total{x="2"} 2

        """)
  }

  @Test("nothing is an empty text, and a family without series its help and type")
  func empty() {
    #expect(ExpositionText.make([]) == "")
    #expect(ExpositionText.make([MetricFamily("a", "", .gauge)]) == "# HELP a \n# TYPE a gauge\n")
  }

  @Test("families of one name from several sources stand together once; of equal labels the first counts")
  func once() {
    var other = MetricFamily("g", "Another help.", .gauge)
    other.add(.integer(2), ["a": "2"])
    other.add(.integer(9), ["a": "1"])
    let text = ExpositionText.make([gauge(.integer(1), ["a": "1"]), other])
    #expect(text == "# HELP g A gauge.\n# TYPE g gauge\ng{a=\"1\"} 1\ng{a=\"2\"} 2\n")
  }

  @Test(
    "values of labels are escaped",
    arguments: [
      ("plain", "plain"), ("a\"b", "a\\\"b"), ("a\\b", "a\\\\b"), ("a\nb", "a\\nb"), ("\\n", "\\\\n"), ("", ""),
      ("grün {}=,", "grün {}=,"), ("a\r\nb", "a\r\\nb"),
    ])
  func labels(_ value: String, _ written: String) {
    #expect(lines(gauge(.integer(1), ["l": value])).joined(separator: "\n") == "g{l=\"\(written)\"} 1")
  }

  @Test("a help keeps its quotation marks, and is one line")
  func help() {
    let text = ExpositionText.make([MetricFamily("g", "a \"b\"\nc\\d", .gauge)])
    #expect(text == "# HELP g a \"b\"\\nc\\\\d\n# TYPE g gauge\n")
  }

  @Test(
    "numbers are the shortest that are read back the same",
    arguments: [
      (.integer(0), "0"), (.integer(.max), "9223372036854775807"), (.integer(-1), "-1"), (.number(0), "0"),
      (.number(3), "3"), (.number(-2.5), "-2.5"), (.number(0.1), "0.1"), (.number(0.00025), "0.00025"),
      (.number(1e300), "1e+300"), (.number(.nan), "NaN"), (.number(.infinity), "+Inf"), (.number(-.infinity), "-Inf"),
    ] as [(MetricFamily.Value, String)])
  func numbers(_ value: MetricFamily.Value, _ text: String) {
    #expect(lines(gauge(value)) == ["g \(text)"])
  }

  @Test("a histogram's buckets are cumulative, the infinite one is its count")
  func histogram() {
    var family = MetricFamily("h_seconds", "", .histogram)
    family.add(.histogram(HistogramFigures(bounds: [0.00025, 1], counts: [2, 0, 3], sum: 9.5)), ["stage": "a"])
    #expect(
      lines(family) == [
        "h_seconds_bucket{stage=\"a\",le=\"0.00025\"} 2", "h_seconds_bucket{stage=\"a\",le=\"1\"} 2",
        "h_seconds_bucket{stage=\"a\",le=\"+Inf\"} 5", "h_seconds_sum{stage=\"a\"} 9.5",
        "h_seconds_count{stage=\"a\"} 5",
      ])
  }

}

@Suite("Figures of the process")
struct ProcessFiguresTests {
  private static let stat = """
    4711 (a (b) c) S 1 4711 4711 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 7 0 12345 1048576 32 18446744073709551615
    """
  private static let limits = """
    Limit                     Soft Limit           Hard Limit           Units
    Max cpu time              unlimited            unlimited            seconds
    Max open files            1024                 524288               files
    """

  private func figures(
    stat: String = stat, limits: String = limits, systemStat: String = "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n"
  ) -> ProcessFigures {
    ProcessFigures(stat: stat, limits: limits, systemStat: systemStat, ticksPerSecond: 100, pageBytes: 4096)
  }

  @Test("the kernel's texts are read, whatever the program is called")
  func whole() {
    var expected = ProcessFigures()
    expected.residentBytes = 32 * 4096
    expected.virtualBytes = 1_048_576
    expected.cpuSeconds = 3
    expected.startSeconds = 1_700_000_123.45
    expected.threads = 7
    expected.descriptorsMax = 1024
    #expect(figures() == expected)
  }

  @Test("what cannot be read is left out")
  func partial() {
    #expect(figures(limits: "Max open files unlimited unlimited files").descriptorsMax == nil)
    #expect(figures(limits: "").descriptorsMax == nil)
    #expect(figures(systemStat: "").startSeconds == nil)
    #expect(figures(stat: "").families.map(\.name) == ["process_max_fds"])
  }

  @Test("a text that is cut anywhere is no error")
  func cut() {
    for end in Self.stat.indices { _ = figures(stat: String(Self.stat[..<end])) }
    for end in Self.limits.indices { _ = figures(limits: String(Self.limits[..<end])) }
  }

  @Test("this process has every figure, and they are possible")
  func current() throws {
    let figures = ProcessFigures.current()
    #expect(figures.families.count == 7)
    #expect(try #require(figures.residentBytes) > 1 << 20)
    #expect(try #require(figures.threads) >= 1)
    #expect(try #require(figures.descriptors) >= 3)
    #expect(try #require(figures.startSeconds) > 1_600_000_000)
  }
}
