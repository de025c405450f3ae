import Testing
import tacet_bench

@Suite("Targets")
struct TargetTests {
  @Test(
    "a bound holds at its edge",
    arguments: [
      (.atMost(3.5), 3.5, true), (.atMost(3.5), 3.501, false), (.atMost(3.5), 0, true),
      (.atLeast(4000), 4000, true), (.atLeast(4000), 3999.9, false), (.atLeast(0.7), 0.8, true),
    ] as [(Bound, Double, Bool)])
  func edge(bound: Bound, value: Double, holds: Bool) {
    #expect(bound.holds(for: value) == holds)
  }

  @Test(
    "the median decides",
    arguments: [([1, 1, 9], .met), ([0.5, 1.1, 1.2], .missed), ([1], .met), ([], .unmeasured)]
      as [([Double], Verdict.Outcome)])
  func verdict(values: [Double], outcome: Verdict.Outcome) throws {
    let path = FigurePath("messages-300", "tacet", "accepted_p50_ms")
    let runs = try BenchRuns(
      zip(1..., values).map {
        BenchRun(scenario: path.scenario, subject: path.subject, round: $0, figures: [path.figure: $1])
      })
    let report = BenchReport(runs, targets: [Target("p50", .figure(path), .atMost(1), "ms")])
    #expect(report.verdicts.map(\.outcome) == [outcome])
    #expect(report.missesNothing == (outcome != .missed))
    #expect(report.complaints.isEmpty == report.missesNothing)
  }

  @Test("targets judge scenarios that are measured")
  func scenarios() {
    let judged = Target.all.flatMap { target in
      switch target.quantity {
      case .figure(let path): [path]
      case .ratio(let path, let other): [path, other]
      }
    }
    #expect(Set(judged.map(\.scenario)).subtracting(BenchScenario.all) == [])
    #expect(Target.all.count == 20)
    #expect(Set(Target.all.map(\.what)).count == Target.all.count)
  }

  @Test("ratios that are recorded are of scenarios that are measured")
  func ratios() {
    let scenarios = RatioDefinition.all.flatMap { [$0.numerator.scenario, $0.denominator.scenario] }
    #expect(Set(scenarios).subtracting(BenchScenario.all) == [])
    #expect(Set(RatioDefinition.all.map(\.name)).count == RatioDefinition.all.count)
  }
}
