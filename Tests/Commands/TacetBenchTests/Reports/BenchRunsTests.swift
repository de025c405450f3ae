import FoundationEssentials
import Testing
import tacet_bench

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

@Suite struct BenchRunTests {
  @Test func aRunIsALineOfJSON() throws {
    let run = BenchRun(scenario: "start", subject: "tacet", round: 2, figures: ["ready_ms": 41.5])
    let line = #"{"scenario":"start","subject":"tacet","round":2,"figures":{"ready_ms":41.5}}"#
    #expect(try JSONDecoder().decode(BenchRun.self, from: Data(line.utf8)) == run)
  }
}

/// Runs of one scenario and subject with one figure, a round for each value.
func rounds(_ path: FigurePath, _ values: Double...) -> [BenchRun] {
  zip(1..., values).map {
    BenchRun(scenario: path.scenario, subject: path.subject, round: $0, figures: [path.figure: $1])
  }
}
