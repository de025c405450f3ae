import ArgumentParser
import Foundation
import FoundationEssentials
import TestRepository
import Testing

@testable import tacet_bench

@Suite("Runs")
struct BenchRunsTests {
  @Test("lines become figures by round; empty lines are passed over")
  func lines() throws {
    let runs = try BenchRuns(
      lines: """
        {"scenario":"start","subject":"tacet","round":1,"figures":{"rss_mb":20,"ready_ms":41.5}}

        {"scenario":"start","subject":"tacet","round":2,"figures":{"ready_ms":40}}

        """)
    #expect(runs.values(of: FigurePath("start", "tacet", "ready_ms")) == [1: 41.5, 2: 40])
    #expect(runs.values(of: FigurePath("start", "against", "ready_ms")) == [:])
    #expect(runs.paths.map(\.figure) == ["ready_ms", "rss_mb"])
  }

  @Test(
    "a line that is no run is named",
    arguments: [
      ("ready", 1), ("\n{}", 2), (#"{"scenario":"start","subject":"tacet","round":1}"#, 1),
      (#"{"scenario":"start","subject":"tacet","round":"1","figures":{}}"#, 1),
      (#"{"scenario":"start","subject":"tacet","round":1,"figures":{"ready_ms":"41"}}"#, 1),
    ])
  func unreadable(text: String, line: Int) {
    #expect(throws: BenchReportError.unreadableLine(line)) { try BenchRuns(lines: text) }
  }

  @Test("a figure of a round stands once")
  func twice() {
    let path = FigurePath("start", "tacet", "ready_ms")
    #expect(throws: BenchReportError.measuredTwice(path, round: 1)) {
      try BenchRuns(rounds(path, 1, 2) + rounds(path, 3))
    }
  }
}

/// Runs of one scenario and subject with one figure, a round for each value.
private func rounds(_ path: FigurePath, _ values: [Double]) -> [BenchRun] {
  zip(1..., values).map {
    BenchRun(scenario: path.scenario, subject: path.subject, round: $0, figures: [path.figure: $1])
  }
}

private func rounds(_ path: FigurePath, _ values: Double...) -> [BenchRun] { rounds(path, values) }

@Suite("Quantities")
struct QuantityTests {
  private let ours = FigurePath("apns-client", "tacet", "requests_per_second")
  private let theirs = FigurePath("apns-client", "h2load", "requests_per_second")

  @Test("a figure has a value for each round, in their order")
  func figure() throws {
    let runs = try BenchRuns(rounds(ours, 3, 1, 2))
    #expect(Quantity.figure(ours).values(in: runs) == [3, 1, 2])
    #expect(Quantity.figure(theirs).spread(in: runs) == nil)
  }

  @Test("a ratio is taken within each round, not of medians")
  func ratio() throws {
    let runs = try BenchRuns(rounds(ours, 10, 40, 9) + rounds(theirs, 20, 40, 10))
    let ratio = Quantity.ratio(ours, over: theirs)
    #expect(ratio.values(in: runs) == [0.5, 1, 0.9])
    #expect(ratio.spread(in: runs)?.median == 0.9)
  }

  @Test(
    "rounds that one of both lacks, or that divide by nothing, have no ratio",
    arguments: [([10, 10], [10], [1.0]), ([10], [20, 10], [0.5]), ([10, 10], [0, 5], [2]), ([10], [0], [])]
      as [([Double], [Double], [Double])])
  func halves(above: [Double], below: [Double], ratios: [Double]) throws {
    let runs = try BenchRuns(rounds(ours, above) + rounds(theirs, below))
    #expect(Quantity.ratio(ours, over: theirs).values(in: runs) == ratios)
  }
}

@Suite("Spreads")
struct SpreadTests {
  @Test(
    "the median is the middle, or the mean of both middles",
    arguments: [
      ([3], 3, 3, 3), ([3, 1], 2, 1, 3), ([9, 1, 2], 2, 1, 9), ([4, 1, 9, 2], 3, 1, 9), ([0, 0, 0], 0, 0, 0),
    ] as [([Double], Double, Double, Double)])
  func middle(values: [Double], median: Double, lowest: Double, highest: Double) throws {
    let spread = try #require(Spread(values))
    #expect(spread.median == median)
    #expect(spread.lowest == lowest)
    #expect(spread.highest == highest)
    #expect(spread.count == values.count)
  }

  @Test("nothing has no spread")
  func nothing() {
    #expect(Spread([]) == nil)
  }
}

@Suite("Subjects side by side")
struct ComparisonTests {
  @Test(
    "this build stands above references and other builds, grown databases above it",
    arguments: [
      ("h2load", "tacet / h2load", 0.5), ("nginx", "tacet / nginx", 0.5), ("against", "tacet / against", 0.5),
      ("rows-10m", "rows-10m / tacet", 2), ("rows-100k", "rows-100k / tacet", 2),
    ])
  func sides(other: String, subjects: String, ratio: Double) throws {
    let runs = try BenchRuns(rounds(FigurePath("a", "tacet", "ms"), 10) + rounds(FigurePath("a", other, "ms"), 20))
    let report = BenchReport(runs)
    #expect(report.comparisons.map { "\($0.above) / \($0.below)" } == [subjects])
    #expect(report.comparisons.map(\.spread.median) == [ratio])
  }

  @Test("only what both have is compared, and nothing with itself")
  func halves() throws {
    let runs = try BenchRuns(
      rounds(FigurePath("a", "tacet", "ms"), 10) + rounds(FigurePath("a", "against", "us"), 10)
        + rounds(FigurePath("b", "against", "ms"), 10))
    #expect(BenchReport(runs).comparisons == [])
  }
}

@Suite("Checks of recorded ratios")
struct RatioCheckTests {
  private static let ours = FigurePath("apns-client", "tacet", "cpu_us_per_request")
  private static let theirs = FigurePath("apns-client", "h2load", "cpu_us_per_request")

  @Test(
    "more than 15 % in the worse direction is a regression",
    arguments: [
      (.higher, 100, 115, .kept), (.higher, 100, 115.1, .regressed), (.higher, 100, 50, .kept),
      (.lower, 100, 85, .kept), (.lower, 100, 84.9, .regressed), (.lower, 100, 200, .kept),
      (.higher, 0.5, 0.57, .kept), (.higher, 0.5, 0.58, .regressed),
    ] as [(RatioDefinition.Direction, Double, Double, RatioCheck.Outcome)])
  func edges(
    worse: RatioDefinition.Direction, recorded: Double, measured: Double, outcome: RatioCheck.Outcome
  ) throws {
    let check = RatioCheck(try record(recorded, worse: worse), in: try runs(measured))
    #expect(check.outcome == outcome)
    #expect(check.change == measured / recorded)
  }

  @Test(
    "a round that is no worse than one of the record speaks for the machine",
    arguments: [
      (.higher, [90, 100, 120], [120, 150, 160], .kept), (.higher, [90, 100, 120], [121, 150, 160], .regressed),
      (.lower, [80, 100, 120], [50, 60, 80], .kept), (.lower, [80, 100, 120], [50, 60, 79], .regressed),
    ] as [(RatioDefinition.Direction, [Double], [Double], RatioCheck.Outcome)])
  func spreads(
    worse: RatioDefinition.Direction, recorded: [Double], measured: [Double], outcome: RatioCheck.Outcome
  ) throws {
    let definition = RatioDefinition("requests", Self.ours, over: Self.theirs, worse: worse)
    let record = try #require(RecordedRatio.all(of: [definition], in: try runs(recorded)).first)
    #expect(RatioCheck(record, in: try runs(measured)).outcome == outcome)
  }

  @Test("a ratio that the runs lack is no kept one")
  func missing() throws {
    let record = try record(1, worse: .higher)
    let half = try BenchRuns(rounds(Self.ours, 1))
    let report = BenchReport(half, records: [record])
    #expect(report.checks.map(\.outcome) == [.missing])
    #expect(!report.keepsRecords)
    #expect(report.complaints == ["not measured: requests"])
    #expect(
      BenchReport(try runs(2), records: [record]).complaints == ["regressed: requests: 2.00 instead of 1.00"])
    #expect(BenchReport(try runs(1), records: [record]).keepsRecords)
    #expect(!BenchReport(try runs(2), records: [record]).keepsRecords)
    #expect(BenchReport(half).keepsRecords)
  }

  @Test("records are read as they were written")
  func file() throws {
    let records = [try record(1.5, worse: .higher), try record(0.25, worse: .lower)]
    #expect(try RecordedRatio.all(json: try RecordedRatio.json(records)) == records)
  }

  @Test("what is no file of records is refused", arguments: ["", "[]", "{}", "[{}]", "[1]"])
  func unreadable(text: String) {
    #expect(throws: BenchReportError.unreadableRatios) { try RecordedRatio.all(json: text) }
  }

  @Test("only what was measured is recorded")
  func recording() throws {
    let records = RecordedRatio.all(in: try runs(1.25))
    #expect(records.map(\.ratio.numerator) == [Self.ours])
    #expect(records.map(\.recorded.median) == [1.25])
  }

  private func record(_ value: Double, worse: RatioDefinition.Direction) throws -> RecordedRatio {
    let definition = RatioDefinition("requests", Self.ours, over: Self.theirs, worse: worse)
    return try #require(RecordedRatio.all(of: [definition], in: try runs(value)).first)
  }

  private func runs(_ ratios: [Double]) throws -> BenchRuns {
    try BenchRuns(rounds(Self.ours, ratios) + rounds(Self.theirs, ratios.map { _ in 1 }))
  }

  private func runs(_ ratio: Double) throws -> BenchRuns { try runs([ratio]) }
}

@Suite("Targets")
struct TargetTests {
  @Test(
    "a bound holds at its edge",
    arguments: [
      (.atMost(3.5), 3.5, true), (.atMost(3.5), 3.501, false), (.atMost(3.5), 0, true),
      (.atLeast(4000), 4000, true), (.atLeast(4000), 3999.9, false), (.atLeast(0.7), 0.8, true),
    ] as [(Target.Bound, Double, Bool)])
  func edge(bound: Target.Bound, value: Double, holds: Bool) {
    #expect(bound.holds(for: value) == holds)
  }

  @Test(
    "the median decides",
    arguments: [([1, 1, 9], .met), ([0.5, 1.1, 1.2], .missed), ([1], .met), ([], .unmeasured)]
      as [([Double], Verdict.Outcome)])
  func verdict(values: [Double], outcome: Verdict.Outcome) throws {
    let path = FigurePath("messages-300", "tacet", "accepted_p50_ms")
    let runs = try BenchRuns(rounds(path, values))
    let report = BenchReport(runs, targets: [Target("p50", .figure(path), .atMost(1), "ms")])
    #expect(report.targets.map(\.outcome) == [outcome])
    #expect(report.missesNothing == (outcome != .missed))
    #expect(report.complaints.isEmpty == report.missesNothing)
  }

  @Test("targets and recorded ratios are of scenarios that deploy/bench has, and each has a name of its own")
  func scenarios() throws {
    let script = try Repository.text("deploy/lib/bench/runs.sh")
    let table = try #require(script.firstMatch(of: /bench_scenarios='\n([^']*)'/)).1
    let measured = table.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
    let quantities = Target.all.map(\.quantity) + RatioDefinition.all.map(\.quantity)
    let judged = quantities.flatMap { quantity in
      switch quantity {
      case .figure(let path): [path]
      case .ratio(let path, let other): [path, other]
      }
    }
    #expect(Set(judged.map(\.scenario)).subtracting(measured) == [])
    #expect(Set(Target.all.map(\.what)).count == Target.all.count)
    #expect(Set(RatioDefinition.all.map(\.name)).count == RatioDefinition.all.count)
  }
}

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
      runs, facts: [Fact(name: "processors", value: "2")], targets: targets,
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

@Suite("tacet-bench report")
struct ReportCommandTests {
  @Test(
    "a record is written, kept by the same runs, and not kept by worse ones",
    arguments: [(100, true), (115, true), (115.1, false)])
  func check(cost: Double, isGood: Bool) throws {
    try withFolder { folder in
      let first = try runs(cost: 100, in: folder)
      try ReportCommand.parse([first, "--record", "\(folder)/ratios.json"]).run()
      let second = try runs(cost: cost, in: folder)
      let check = try ReportCommand.parse([second, "--check", "\(folder)/ratios.json"])
      if isGood {
        try check.run()
      } else {
        #expect(throws: ExitCode.failure) { try check.run() }
      }
    }
  }

  @Test("missed targets fail with --strict only")
  func strict() throws {
    try withFolder { folder in
      let runs = try runs(rate: 69, in: folder)
      try ReportCommand.parse([runs]).run()
      #expect(throws: ExitCode.failure) { try ReportCommand.parse([runs, "--strict"]).run() }
    }
  }

  @Test("the report is written as JSON, with the facts")
  func files() throws {
    try withFolder { folder in
      let runs = try runs(in: folder)
      let options = ["--json", "\(folder)/a.json", "--fact", "model=A=B"]
      try ReportCommand.parse([runs] + options).run()
      let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: "\(folder)/a.json")))
      #expect((json as? [String: Any])?["facts"] as? [[String: String]] == [["name": "model", "value": "A=B"]])
    }
  }

  @Test("a fact has a name and a value", arguments: ["model", "=", "model="])
  func facts(text: String) {
    #expect(throws: (any Error).self) { try ReportCommand.parse(["runs", "--fact", text]) }
  }

  /// Of the APNs client, beside an h2load that takes 100 µs for a request, and has 100 requests a second.
  private func runs(rate: Double = 80, cost: Double = 100, in folder: String) throws -> String {
    let path = "\(folder)/\(rate)-\(cost).jsonl"
    let runs = [("h2load", 100, 100), ("tacet", rate, cost)].map { subject, rate, cost in
      BenchRun(
        scenario: "apns-client", subject: subject, round: 1,
        figures: ["requests_per_second": rate, "cpu_us_per_request": cost])
    }
    let lines = try runs.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.path)
  }
}
