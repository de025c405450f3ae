import Testing

@testable import PushRules

@Suite("Texts with inserted values")
struct FilledTextTests {
  private func filled(_ parts: (String, Bool)...) -> String {
    var text = FilledText()
    for (part, isValue) in parts { if isValue { text.append(value: part) } else { text.append(words: part) } }
    return text.text
  }

  @Test(
    "a value is isolated where letters of both directions meet, and nowhere else",
    arguments: [
      ("Message from ", "Ann", "Message from Ann"), ("Message from ", "Łukasz", "Message from Łukasz"),
      ("Message from ", "日本", "Message from 日本"), ("Message from ", "🏳️‍🌈", "Message from 🏳️‍🌈"),
      ("Message from ", "محمد", "Message from \u{2068}محمد\u{2069}"),
      ("Message from ", "דנה (Dana)", "Message from \u{2068}דנה (Dana)\u{2069}"),
      ("رسالة من ", "محمد", "رسالة من محمد"), ("رسالة من ", "Ann", "رسالة من \u{2068}Ann\u{2069}"),
      ("رسالة من ", "+49 170", "رسالة من +49 170"), ("", "محمد Ann", "محمد Ann"), ("1: ", "محمد", "1: محمد"),
      // What would end the isolate too early, or keep it open, is left out of it.
      ("Message from ", "מ\u{2069}\u{2067}ד", "Message from \u{2068}מד\u{2069}"),
    ])
  func isolated(words: String, value: String, text: String) {
    #expect(filled((words, false), (value, true)) == text)
  }

  @Test("values of both directions are both isolated, whatever the words are")
  func both() {
    #expect(filled(("Ann", true), (": ", false), ("שלום", true)) == "\u{2068}Ann\u{2069}: \u{2068}שלום\u{2069}")
    #expect(filled() == "" && filled(("", true), ("a", false)) == "a")
  }

  @Test(
    "what a cut has left open is closed",
    arguments: [
      ("a", "a"), ("\u{2068}a\u{2069}", "\u{2068}a\u{2069}"), ("\u{2068}a", "\u{2068}a\u{2069}"),
      ("\u{2066}\u{2067}a", "\u{2066}\u{2067}a\u{2069}\u{2069}"), ("a\u{2069}\u{2068}b", "a\u{2069}\u{2068}b\u{2069}"),
      (String(repeating: "\u{2068}", count: 5) + "a", "a"),
    ])
  func closed(text: String, closed: String) {
    #expect(text.closingIsolates == closed)
  }
}
