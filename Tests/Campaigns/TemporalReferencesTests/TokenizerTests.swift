import Testing

@testable import TemporalReferences

@Suite("The tokenizer")
struct TokenizerTests {
  private func texts(_ text: String) -> [String] {
    var tokenizer = Tokenizer(text)
    var texts: [String] = []
    while let token = tokenizer.next() { texts.append(token.text) }
    return texts
  }

  @Test(
    "words are lower case, numbers keep their groups, and what is too long has no text",
    arguments: [
      ("It's 3:30 P.M.", ["it's", "3:30", "pm"]),
      ("Don\u{2019}t", ["don't"]), ("one-on-one", ["one", "-", "on", "-", "one"]),
      ("2026-03-15", ["2026-3-15"]), ("1,000", [""]), ("1.2.3.4", [""]), ("2/20-2/22", ["2/20", "-", "2/22"]),
      ("555-123-4567", ["555-123-4567"]), ("12345", [""]),
      ("15th", ["15", "th"]), ("e\u{301}te\u{301}", ["e\u{301}te\u{301}"]),
      ("ÜBER", ["über"]), ("'quoted'", ["quoted"]), ("\u{301}\u{301}", []), ("", []), ("  \u{A0}\t", []),
      ("3–5", ["3-5"]), ("e.g. this", ["eg", "this"]), ("end.", ["end", ""]), ("😀", [""]),
      (String(repeating: "a", count: 41), [""]),
    ])
  func tokens(text: String, expected: [String]) {
    #expect(texts(text) == expected)
  }

  @Test("spans are in bytes and cover the text between spaces")
  func spans() {
    var tokenizer = Tokenizer("é 🎉 x")
    var spans: [Range<Int>] = []
    while let token = tokenizer.next() { spans.append(token.span) }
    #expect(spans == [0..<2, 3..<7, 8..<9])
  }
}
