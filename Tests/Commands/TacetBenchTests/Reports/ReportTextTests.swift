import FoundationEssentials
import Testing

@testable import tacet_bench

@Suite("Reports as text")
struct ReportTextTests {
  private let report: BenchReport

  init() throws {
    let p50 = FigurePath("messages-300", "tacet", "accepted_p50_ms")
    let nginx = FigurePath("http-server", "nginx", "requests_per_second")
    let tacet = FigurePath("http-server", "tacet", "requests_per_second")
    let runs = try BenchRuns(rounds(p50, 0.8, 1.234, 12.34) + rounds(nginx, 100_000) + rounds(tacet, 123_456))
    let targets = [
      Target("p50 at 300/s", .figure(p50), .atMost(1), "ms"),
      Target("over nginx", .ratio(tacet, over: nginx), .atLeast(1)),
      Target("start", .figure(FigurePath("start", "tacet", "ready_ms")), .atMost(300), "ms"),
    ]
    let definition = RatioDefinition("http", tacet, over: nginx, worse: .lower)
    report = BenchReport(
      runs, facts: [Fact("processors", "2"), Fact("PostgreSQL", "15.4")], targets: targets,
      records: RecordedRatio.all(of: [definition], in: runs))
  }

  @Test("targets, check, comparisons, figures")
  func text() {
    #expect(
      report.text == """
        Targets

        what          target     measured median (lowest … highest)  met
        ------------  ---------  ----------------------------------  ------------
        p50 at 300/s  <= 1 ms    1.23 (0.800 … 12.3)                 NO
        over nginx    >= 1       1.23                                yes
        start         <= 300 ms  -                                   not measured

        Recorded ratios

        ratio  recorded  measured  change  outcome
        -----  --------  --------  ------  -------
        http   1.23      1.23      x 1.00  kept

        Side by side

        scenario     figure               subjects       ratio
        -----------  -------------------  -------------  -----
        http-server  requests_per_second  tacet / nginx  1.23

        All figures

        scenario      subject  figure               median (lowest … highest)
        ------------  -------  -------------------  -------------------------
        messages-300  tacet    accepted_p50_ms      1.23 (0.800 … 12.3)
        http-server   nginx    requests_per_second  100000
        http-server   tacet    requests_per_second  123456

        """)
  }

  @Test("JSON has the same")
  func json() throws {
    struct Document: Decodable {
      struct Row: Decodable {
        let outcome: String
        let measured: Spread?
      }
      let facts: [Fact]
      let targets: [Row]
      let checks: [Row]
      let comparisons: [Spreading]
      let figures: [Measuring]
    }
    struct Spreading: Decodable { let spread: Spread }
    struct Measuring: Decodable { let measured: Spread }
    let document = try JSONDecoder().decode(Document.self, from: Data(try report.json().utf8))
    #expect(document.facts == report.facts)
    #expect(document.targets.map(\.outcome) == ["missed", "met", "not measured"])
    #expect(document.targets.map { $0.measured?.median } == [1.234, 1.23456, nil])
    #expect(document.checks.map(\.outcome) == ["kept"])
    #expect(document.comparisons.map(\.spread.median) == [1.23456])
    #expect(document.figures.map(\.measured.median) == [1.234, 100_000, 123_456])
  }
}

@Suite("Numbers as people read them")
struct DecimalsTests {
  @Test(
    "three digits that count",
    arguments: [
      (0, "0.000"), (0.01234, "0.012"), (0.9996, "1.000"), (1, "1.00"), (1.005, "1.00"), (9.876, "9.88"), (10, "10.0"),
      (99.94, "99.9"), (100, "100"), (12345.6, "12346"), (-1.5, "-1.50"), (-0.0001, "0.000"), (.infinity, "inf"),
    ] as [(Double, String)])
  func measured(value: Double, text: String) {
    #expect(Decimals.measured(value) == text)
  }

  @Test("bounds as they were written", arguments: [(1, "1"), (3.5, "3.5"), (200_000, "200000"), (0, "0"), (-2, "-2")])
  func plain(value: Double, text: String) {
    #expect(Decimals.plain(value) == text)
  }
}
