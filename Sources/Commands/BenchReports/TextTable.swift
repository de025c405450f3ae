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

  /// As in GitHub's Markdown.
  var markdown: String {
    ([head, head.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: width - cell.count)
    }.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}
