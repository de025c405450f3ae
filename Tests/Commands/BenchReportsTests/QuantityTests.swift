import BenchReports
import Testing

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
    let runs = try BenchRuns(
      above.enumerated().flatMap { run(ours, $0.offset, $0.element) }
        + below.enumerated().flatMap { run(theirs, $0.offset, $0.element) })
    #expect(Quantity.ratio(ours, over: theirs).values(in: runs) == ratios)
  }

  private func run(_ path: FigurePath, _ round: Int, _ value: Double) -> [BenchRun] {
    [BenchRun(scenario: path.scenario, subject: path.subject, round: round + 1, figures: [path.figure: value])]
  }
}
