import BenchReports
import Testing

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
