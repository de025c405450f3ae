extension BenchReport {
  /// The targets first, then the check, then everything else.
  public var text: String {
    let sections = [
      ("Targets", targets.plain), ("Recorded ratios", checks.isEmpty ? "" : checked.plain),
      ("Side by side", comparisons.isEmpty ? "" : compared.plain), ("All figures", measured.plain),
    ]
    return sections.filter { !$0.1.isEmpty }.map { "\($0.0)\n\n\($0.1)" }.joined(separator: "\n")
  }

  /// The targets, with the facts in a line below them.
  public var markdown: String {
    let line = facts.map { "\($0.name) \($0.value)" }.joined(separator: "; ")
    return line.isEmpty ? targets.markdown : "\(targets.markdown)\n\(line).\n"
  }

  private var targets: TextTable {
    var table = TextTable("what", "target", "measured median (lowest … highest)", "met")
    for verdict in verdicts {
      table.add(
        verdict.target.what, verdict.target.text, verdict.spread?.text ?? "-", verdict.outcome.answer)
    }
    return table
  }

  private var checked: TextTable {
    var table = TextTable("ratio", "recorded", "measured", "change", "outcome")
    for check in checks {
      table.add(
        check.record.ratio.name, check.record.recorded.text, check.measured?.text ?? "-",
        check.change.map { "x \(Decimals.fixed($0, digits: 2))" } ?? "-", check.outcome.rawValue)
    }
    return table
  }

  private var compared: TextTable {
    var table = TextTable("scenario", "figure", "subjects", "ratio")
    for comparison in comparisons {
      table.add(
        comparison.scenario, comparison.figure, "\(comparison.above) / \(comparison.below)", comparison.spread.text)
    }
    return table
  }

  private var measured: TextTable {
    var table = TextTable("scenario", "subject", "figure", "median (lowest … highest)")
    for figure in figures {
      table.add(figure.path.scenario, figure.path.subject, figure.path.figure, figure.spread.text)
    }
    return table
  }
}

extension Verdict.Outcome {
  fileprivate var answer: String {
    switch self {
    case .met: "yes"
    case .missed: "NO"
    case .unmeasured: "not measured"
    }
  }
}
