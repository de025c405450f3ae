import FoundationEssentials
import Testing
import tacet_bench

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
    try BenchRuns(
      zip(1..., ratios).flatMap { round, ratio in
        [(Self.ours, ratio), (Self.theirs, 1)].map { path, value in
          BenchRun(scenario: path.scenario, subject: path.subject, round: round, figures: [path.figure: value])
        }
      })
  }

  private func runs(_ ratio: Double) throws -> BenchRuns {
    try BenchRuns(rounds(Self.ours, ratio) + rounds(Self.theirs, 1))
  }
}
