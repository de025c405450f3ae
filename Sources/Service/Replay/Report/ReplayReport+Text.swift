internal import Explanations
internal import PushStore

extension ReplayReport {
  /// The report for people, the last line ended.
  public var text: String {
    let sections = [heading, table, folding, consistency, examples]
    return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  private var heading: [String] {
    let begin = TimeText.instant(span.lowerBound)
    return [
      "\(pushes) pushes with \(decisions) decisions, committed from \(begin) to \(TimeText.instant(span.upperBound))"
        + (isCut ? " (the newest; older ones are left out)" : ""),
      "sent: \(sent.before) as recorded, \(sent.after) by these rules",
      "differences: \(differences)",
    ]
  }

  private var table: [String] {
    guard !changes.isEmpty else { return [] }
    let rows =
      [["change", "pushes", "average", "as recorded", "by these rules"]]
      + changes.map { change in
        [
          change.effect.words, "\(change.count)", change.averageShift.map { TimeText.span($0.wholeMicroseconds) } ?? "",
          change.before, change.after,
        ]
      } + (otherChanges > 0 ? [["others", "\(otherChanges)", "", "", ""]] : [])
    let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += (column == 1 || column == 2 ? space + cell : cell + space) + "  "
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  private var folding: [String] {
    guard let sounding else { return [] }
    let silent = (before: sent.before - sounding.before, after: sent.after - sounding.after)
    let unknown = withoutSurface == 0 ? "" : " (\(withoutSurface) without a recorded conversation, counted with sound)"
    return [
      "with sound: \(sounding.before) as recorded, \(sounding.after) by these rules\(unknown)",
      "silent updates: \(silent.before) as recorded, \(silent.after) by these rules",
    ]
  }

  private var consistency: [String] {
    guard inconsistent > 0 else { return [] }
    return ["\(inconsistent) records contradict the rules of their time:"]
      + inconsistentExamples.compactMap(\.command).map { "  \($0)" }
  }

  private var examples: [String] {
    changes.flatMap { change -> [String] in
      let commands = change.examples.compactMap { example in example.command.map { "  \($0)\(Self.waits(example))" } }
      return commands.isEmpty ? [] : ["\(change.effect.words): \(change.before) -> \(change.after)"] + commands
    }
  }

  private static func waits(_ example: ReplayExample) -> String {
    guard let before = example.wait, let after = example.waitAfter else { return "" }
    return
      "  # \(TimeText.span(before.wholeMicroseconds)) -> \(TimeText.span(after.wholeMicroseconds)) after the commit"
  }
}

extension ReplayReport.Change {
  /// By how much they are later or earlier on average.
  public var averageShift: Duration? { shift.map { $0 / max(1, count) } }
}

extension ReplayEffect {
  /// As people read it.
  public var words: String { rawValue.replacing("_", with: " ") }
}
