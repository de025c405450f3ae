import FoundationEssentials

package struct BenchReport: Sendable {
  /// Facts about the machine: names and values, in order.
  package let facts: [Fact]
  /// One for each target, in their order.
  package let verdicts: [Verdict]
  /// Empty unless recorded ratios were given.
  package let checks: [RatioCheck]
  /// Each figure that `tacet` shares with another subject, in the order of the runs.
  package let comparisons: [Comparison]
  /// In the order of the runs.
  package let figures: [MeasuredFigure]

  package init(
    _ runs: BenchRuns, facts: [Fact] = [], targets: [Target] = Target.all, records: [RecordedRatio] = []
  ) {
    self.facts = facts
    verdicts = targets.map { Verdict($0, in: runs) }
    checks = records.map { RatioCheck($0, in: runs) }
    comparisons = Comparison.all(in: runs)
    figures = runs.paths.compactMap { MeasuredFigure($0, in: runs) }
  }

  package var keepsRecords: Bool { checks.allSatisfy { $0.outcome == .kept } }

  package var missesNothing: Bool { verdicts.allSatisfy { $0.outcome != .missed } }

  /// A sentence for each recorded ratio that was not kept, and for each missed target.
  package var complaints: [String] {
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

extension BenchReport {
  /// One object with the lists `facts`, `targets`, `checks`, `comparisons` and `figures`. Without a measurement an
  /// element has no `measured`.
  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let document = ReportDocument(
      facts: facts, targets: verdicts.map(TargetRow.init), checks: checks.map(CheckRow.init),
      comparisons: comparisons, figures: figures.map(FigureRow.init))
    return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
  }
}

private struct ReportDocument: Encodable {
  let facts: [Fact]
  let targets: [TargetRow]
  let checks: [CheckRow]
  let comparisons: [Comparison]
  let figures: [FigureRow]
}

private struct TargetRow: Encodable {
  let what: String
  let target: String
  let measured: Spread?
  let outcome: Verdict.Outcome

  init(_ verdict: Verdict) {
    what = verdict.target.what
    target = verdict.target.text
    measured = verdict.spread
    outcome = verdict.outcome
  }
}

private struct CheckRow: Encodable {
  let name: String
  let recorded: Spread
  let measured: Spread?
  let change: Double?
  let outcome: RatioCheck.Outcome

  init(_ check: RatioCheck) {
    name = check.record.ratio.name
    recorded = check.record.recorded
    measured = check.measured
    change = check.change
    outcome = check.outcome
  }
}

private struct FigureRow: Encodable {
  let scenario: String
  let subject: String
  let figure: String
  let measured: Spread

  init(_ figure: MeasuredFigure) {
    scenario = figure.path.scenario
    subject = figure.path.subject
    self.figure = figure.path.figure
    measured = figure.spread
  }
}

/// Something about the machine, such as its number of processors.
package struct Fact: Codable, Sendable, Equatable {
  /// Such as `processors`.
  package let name: String
  /// Such as `2`.
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
