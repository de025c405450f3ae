import Glibc
import Operations
import Settings

/// A question of `tacet init`, put to a person.
struct TerminalQuestion {
  /// Answers that cannot be used before it gives up.
  private static let attemptsMax = 3

  private let question: WiringQuestion
  private let isTerminal: Bool
  private let readLine: () -> String?
  private let tell: (String) -> Void

  /// Uses the process's terminal, if it has one.
  init(_ question: WiringQuestion) {
    self.init(
      question, isTerminal: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1, readLine: { Swift.readLine() },
      tell: { StandardStream.error.say($0) })
  }

  /// - Parameters:
  ///   - readLine: the next answer without its line break; nil at the end of the input.
  ///   - tell: shows a text as it is.
  init(
    _ question: WiringQuestion, isTerminal: Bool, readLine: @escaping () -> String?, tell: @escaping (String) -> Void
  ) {
    self.question = question
    self.isTerminal = isTerminal
    self.readLine = readLine
    self.tell = tell
  }

  /// - Throws: ``UnansweredQuestion`` where there is no terminal, or after three answers that cannot be used.
  func ask() throws(UnansweredQuestion) -> String {
    guard isTerminal else { throw UnansweredQuestion(question: question) }
    tell(question.text + "\n")
    for (number, choice) in zip(1..., question.choices) where !question.isOpen { tell("  \(number)  \(choice)\n") }
    for _ in 0..<Self.attemptsMax {
      tell("> ")
      guard let line = readLine() else { break }
      if let answer = answer(String(line.trimmed)) { return answer }
      tell("Write a number of the list, or a name.\n")
    }
    throw UnansweredQuestion(question: question)
  }

  /// A number of the list, or what is written; nil for what is neither.
  private func answer(_ text: String) -> String? {
    if question.isOpen { return text.isEmpty ? question.choices.first : text }
    guard let number = Int(text) else { return text.isEmpty ? nil : text }
    return question.choices.indices.contains(number - 1) ? question.choices[number - 1] : nil
  }
}

struct UnansweredQuestion: Error, CustomStringConvertible {
  let question: WiringQuestion

  var description: String {
    "\(question.text) Answer with --\(question.subject.rawValue): \(question.choices.joined(separator: ", "))"
  }
}
