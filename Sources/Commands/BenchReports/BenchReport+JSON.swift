import FoundationEssentials

extension BenchReport {
  /// One object: `facts`, `targets`, `checks`, `comparisons` and `figures`, each a list; what was not
  /// measured has no `measured`.
  public func json() throws -> String {
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
