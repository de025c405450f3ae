/// What a measurement says.
public struct BenchReport: Sendable {
  /// What it was measured on: names and values, in order.
  public let facts: [Fact]
  /// One for each target, in their order.
  public let verdicts: [Verdict]
  /// Empty unless recorded ratios were given.
  public let checks: [RatioCheck]
  /// Every figure that `tacet` shares with another subject, in the order of the runs.
  public let comparisons: [Comparison]
  /// In the order of the runs.
  public let figures: [MeasuredFigure]

  /// Judges runs.
  public init(
    _ runs: BenchRuns, facts: [Fact] = [], targets: [Target] = Target.all, records: [RecordedRatio] = []
  ) {
    self.facts = facts
    verdicts = targets.map { Verdict($0, in: runs) }
    checks = records.map { RatioCheck($0, in: runs) }
    comparisons = Comparison.all(in: runs)
    figures = runs.paths.compactMap { MeasuredFigure($0, in: runs) }
  }

  /// Whether every recorded ratio was measured and has kept.
  public var keepsRecords: Bool { checks.allSatisfy { $0.outcome == .kept } }

  /// Whether no target was missed; one that was not measured is not.
  public var missesNothing: Bool { verdicts.allSatisfy { $0.outcome != .missed } }

  /// A sentence for each recorded ratio that has not kept, and for each target that was missed.
  public var complaints: [String] {
    checks.compactMap { check in
      switch check.outcome {
      case .kept: nil
      case .missing: "not measured: \(check.record.ratio.name)"
      case .regressed:
        "regressed: \(check.record.ratio.name): \(check.measured?.text ?? "-") instead of \(check.record.recorded.text)"
      }
    }
      + verdicts.filter { $0.outcome == .missed }.map {
        "missed: \($0.target.what): \($0.spread?.text ?? "-") instead of \($0.target.text)"
      }
  }
}
