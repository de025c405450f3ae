extension EventExplanation {
  /// The explanation for people, in lines of at most 100 columns, the last one ended.
  ///
  /// First the event, then each recipient: the sentence, and the steps, each with its time since the commit. Without a
  /// known commit times are those of the day.
  package var text: String {
    var page = ExplanationPage(committedAt: committedAt)
    page.add("\(kind) \(subjectID)" + (committedAt.map { ", committed \(TimeText.instant($0))" } ?? ""))
    page.add(summary)
    page.add(steps)
    for recipient in recipients {
      page.skip()
      page.add("user \(recipient.userID)")
      page.add(recipient.summary, indent: 2)
      page.add(recipient.steps)
    }
    return page.text
  }
}

/// Lines of bounded length.
private struct ExplanationPage {
  private static let columns = 100
  /// The column of times, and where the text behind it begins.
  private static let timeWidth = 14
  private static let textColumn = 16
  private static let nameWidth = 15

  let committedAt: Int64?
  private(set) var text = ""

  init(committedAt: Int64?) {
    self.committedAt = committedAt
  }

  mutating func skip() { text += "\n" }

  mutating func add(_ paragraph: String, indent: Int = 0) {
    write(paragraph, first: Self.spaces(indent), column: indent)
  }

  mutating func add(_ steps: [EventExplanation.Step]) {
    for step in steps {
      write(step.text, first: Self.right(time(step.at), Self.timeWidth) + "  ", column: Self.textColumn)
      for detail in step.details {
        let name = Self.left(detail.name, Self.nameWidth)
        write(
          detail.value, first: Self.spaces(Self.textColumn + 2) + name, column: Self.textColumn + 2 + Self.nameWidth)
      }
    }
  }

  private func time(_ at: Int64) -> String {
    committedAt.map { TimeText.offset(at - $0) } ?? String(TimeText.instant(at).suffix(13))
  }

  /// Breaks between words; a word that is longer than a line has a line to itself.
  private mutating func write(_ paragraph: String, first: String, column: Int) {
    var line = first
    var isEmpty = true
    for word in paragraph.split(separator: " ") {
      if !isEmpty, line.count + 1 + word.count > Self.columns {
        text += line + "\n"
        (line, isEmpty) = (Self.spaces(column), true)
      }
      line += isEmpty ? word : " \(word)"
      isEmpty = false
    }
    text += line + "\n"
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
  private static func right(_ text: String, _ width: Int) -> String { spaces(width - text.count) + text }
  private static func left(_ text: String, _ width: Int) -> String { text + spaces(width - text.count) }
}
