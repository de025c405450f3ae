import FoundationEssentials

/// What a measurement says, as JSON and as text.
struct BenchReport: Encodable, Sendable {
  /// Facts about the machine, in order.
  let facts: [Fact]
  let targets: [Verdict]
  /// Empty unless recorded ratios were given.
  let checks: [RatioCheck]
  /// Each figure that `tacet` shares with another subject, in the order of the runs.
  let comparisons: [Comparison]
  /// In the order of the runs.
  let figures: [MeasuredFigure]

  init(_ runs: BenchRuns, facts: [Fact] = [], targets: [Target] = Target.all, records: [RecordedRatio] = []) {
    self.facts = facts
    self.targets = targets.map { Verdict($0, in: runs) }
    checks = records.map { RatioCheck($0, in: runs) }
    comparisons = Comparison.all(in: runs)
    figures = runs.paths.compactMap { path in
      Quantity.figure(path).spread(in: runs).map {
        MeasuredFigure(scenario: path.scenario, subject: path.subject, figure: path.figure, measured: $0)
      }
    }
  }

  var keepsRecords: Bool { checks.allSatisfy { $0.outcome == .kept } }

  var missesNothing: Bool { targets.allSatisfy { $0.outcome != .missed } }

  /// A sentence for each recorded ratio that was not kept, and for each missed target.
  var complaints: [String] {
    checks.compactMap { check in
      switch check.outcome {
      case .kept: nil
      case .missing: "not measured: \(check.name)"
      case .regressed: "regressed: \(check.name): \(check.measured?.text ?? "-") instead of \(check.recorded.text)"
      }
    }
      + targets.filter { $0.outcome == .missed }.map {
        "missed: \($0.what): \($0.measured?.text ?? "-") instead of \($0.target)"
      }
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// The targets, the recorded ratios, the comparisons and all figures.
  var text: String {
    let tables = [
      (
        "Targets", ["what", "target", "measured median (lowest … highest)", "met"],
        targets.map { [$0.what, $0.target, $0.measured?.text ?? "-", $0.outcome.answer] }
      ),
      (
        "Recorded ratios", ["ratio", "recorded", "measured", "change", "outcome"],
        checks.map { check in
          let change = check.change.map { "x \(Decimals.fixed($0, digits: 2))" }
          return [
            check.name, check.recorded.text, check.measured?.text ?? "-", change ?? "-", check.outcome.rawValue,
          ]
        }
      ),
      (
        "Side by side", ["scenario", "figure", "subjects", "ratio"],
        comparisons.map { [$0.scenario, $0.figure, "\($0.above) / \($0.below)", $0.spread.text] }
      ),
      (
        "All figures", ["scenario", "subject", "figure", "median (lowest … highest)"],
        figures.map { [$0.scenario, $0.subject, $0.figure, $0.measured.text] }
      ),
    ]
    return tables.filter { !$0.2.isEmpty }.map { "\($0.0)\n\n\(Self.columns([$0.1] + $0.2))" }.joined(separator: "\n")
  }

  /// Rows below a head, in columns two spaces apart; no line ends in spaces.
  private static func columns(_ rows: [[String]]) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let rule = widths.map { String(repeating: "-", count: $0) }
    return ([rows[0], rule] + rows.dropFirst()).map { cells in
      var line = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}

/// Something about the machine: `processors`, `2`.
struct Fact: Codable, Sendable, Equatable {
  let name: String
  let value: String
}

/// A figure over all rounds.
struct MeasuredFigure: Encodable, Sendable, Equatable {
  let scenario: String
  let subject: String
  let figure: String
  let measured: Spread
}

/// The ratio of two subjects' figures, round by round.
struct Comparison: Encodable, Sendable, Equatable {
  let scenario: String
  let figure: String
  /// The subject of the numerator: a database with history stands above one without, this build above everything else.
  let above: String
  let below: String
  /// Over the rounds with both.
  let spread: Spread

  /// All comparisons with `tacet`, in the order of the runs. Inputs, and figures that must be 0, are excluded.
  static func all(in runs: BenchRuns) -> [Comparison] {
    runs.paths.filter { !given.contains($0.figure) && $0.subject != "tacet" }.compactMap { other in
      let ours = FigurePath(other.scenario, other.figure)
      let (above, below) = other.subject.hasPrefix("rows-") ? (other, ours) : (ours, other)
      return Quantity.ratio(above, over: below).spread(in: runs).map {
        Comparison(
          scenario: other.scenario, figure: other.figure, above: above.subject, below: below.subject, spread: $0)
      }
    }
  }

  private static let given: Set<String> = ["offered_per_second", "pushes", "lost", "doubled"]
}
