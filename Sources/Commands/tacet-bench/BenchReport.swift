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

extension BenchReport {
  /// The targets, the recorded ratios, the comparisons and all figures.
  package var text: String {
    let sections = [
      ("Targets", targets.plain), ("Recorded ratios", checks.isEmpty ? "" : checked.plain),
      ("Side by side", comparisons.isEmpty ? "" : compared.plain), ("All figures", measured.plain),
    ]
    return sections.filter { !$0.1.isEmpty }.map { "\($0.0)\n\n\($0.1)" }.joined(separator: "\n")
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

/// Rows of text below a head, in columns.
struct TextTable {
  let head: [String]
  /// As many cells in each as the head has.
  private(set) var rows: [[String]] = []

  init(_ head: String...) {
    self.head = head
  }

  mutating func add(_ cells: String...) {
    precondition(cells.count == head.count, "a row of \(cells.count) cells below a head of \(head.count)")
    rows.append(cells)
  }

  /// Columns two spaces apart; no line ends in spaces.
  var plain: String {
    let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
    let rule = widths.map { String(repeating: "-", count: $0) }
    return ([head, rule] + rows).map { Self.line($0, widths) }.joined()
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: width - cell.count)
    }.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}

/// Numbers for people.
enum Decimals {
  /// Three significant digits, and all digits before the point: `0.0123`, `1.23`, `45.6`, `12345`.
  static func measured(_ value: Double) -> String {
    switch value.magnitude {
    case 100...: fixed(value, digits: 0)
    case 10...: fixed(value, digits: 1)
    case 1...: fixed(value, digits: 2)
    default: fixed(value, digits: 3)
    }
  }

  /// Without a point when the fraction is zero.
  static func plain(_ value: Double) -> String {
    guard value.isFinite else { return "\(value)" }
    return value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
  }

  /// Rounded half away from zero.
  static func fixed(_ value: Double, digits: Int) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
    let factor = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((value.magnitude * Double(factor)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = String(scaled % factor)
    return "\(sign)\(scaled / factor).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
  }
}

extension Spread {
  /// `1.25 (1.10 … 1.31)`; for a single measurement its value.
  var text: String {
    guard count > 1 else { return Decimals.measured(median) }
    return "\(Decimals.measured(median)) (\(Decimals.measured(lowest)) … \(Decimals.measured(highest)))"
  }
}
