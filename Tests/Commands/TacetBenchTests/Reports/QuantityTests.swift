import Testing
import tacet_bench

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

  @Test(
    "the relative spread is a share of the median",
    arguments: [([8, 10, 12], 0.4), ([5], 0), ([0, 0], 0)] as [([Double], Double)])
  func relative(values: [Double], share: Double) throws {
    #expect(try #require(Spread(values)).relative == share)
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
