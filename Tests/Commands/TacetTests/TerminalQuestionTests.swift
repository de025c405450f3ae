import Operations
import Testing

@testable import tacet

@Suite("A question on a terminal")
struct TerminalQuestionTests {
  private static let listed = WiringQuestion(
    subject: .devices, text: "Which column?", choices: ["public.sessions.device_id", "own"])
  private static let open = WiringQuestion(subject: .messageKinds, text: "Which values?", choices: ["all"])

  private func answer(_ question: WiringQuestion, _ lines: String..., isTerminal: Bool = true) throws -> String {
    var left = lines
    let asked = TerminalQuestion(
      question, isTerminal: isTerminal, readLine: { left.isEmpty ? nil : left.removeFirst() }, tell: { _ in })
    return try asked.ask()
  }

  @Test("takes a number of its list or a name")
  func list() throws {
    #expect(try answer(Self.listed, "2") == "own")
    #expect(try answer(Self.listed, " 1 ") == "public.sessions.device_id")
    #expect(try answer(Self.listed, "public.phones.token") == "public.phones.token")
    #expect(try answer(Self.listed, "", "3", "1") == "public.sessions.device_id")
  }

  @Test("without a list takes what is written, or its first choice")
  func written() throws {
    #expect(try answer(Self.open, " 0, 1 ") == "0, 1")
    #expect(try answer(Self.open, "") == "all")
  }

  @Test("gives up at the end of the input, after three tries, and without a terminal")
  func givesUp() {
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed) }
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed, "0", "-1", "9", "1") }
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed, "1", isTerminal: false) }
    #expect(UnansweredQuestion(question: Self.listed).description.contains("--devices: public.sessions.device_id, own"))
  }
}
