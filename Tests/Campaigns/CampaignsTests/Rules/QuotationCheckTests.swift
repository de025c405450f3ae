import Testing

@testable import Campaigns

private func isQuoted(_ source: String, in parts: String...) -> Bool {
  QuotationCheck.isAnyQuoted(of: [source], in: parts)
}

private let source = "I'm scared that Zoë won't like my naïve plan"

@Suite("Quotations of the user")
struct QuotationCheckTests {
  @Test(
    "five words in a row are a quotation, however they are spelled",
    arguments: [
      "scared that Zoë won't like", "I'M SCARED THAT ZOE WONT", "Im scared that Zoe won’t",
      "… zoë, won't: like my — naive!",
      "So: that zoe\u{308} wo\u{200B}n't like my", "Ｓcared that Zoe won't like",
      "like my naïve plan? Won't like my naive plan",
      "x scared\nthat\tzoe wont like y", "ŽOE scared that zoe wont like",
    ])
  func quoted(reply: String) {
    #expect(isQuoted(source, in: reply))
  }

  @Test(
    "four words, or five with another between them, are none",
    arguments: [
      "scared that Zoë won't", "like my naïve plan", "scared that Zoë really won't like", "plan naive my like wont", "",
      "scared that zoe wont / love my naive plan", "scaredthat zoe wont like my", "scared that zoe wont lik my naive",
    ])
  func notQuoted(reply: String) {
    #expect(!isQuoted(source, in: reply))
  }

  @Test("no run goes from the title into the body, nor from one source into the next")
  func borders() {
    #expect(!isQuoted("one two three four five", in: "one two three", "four five"))
    #expect(!QuotationCheck.isAnyQuoted(of: ["one two three", "four five"], in: ["one two three four five"]))
    #expect(
      QuotationCheck.isAnyQuoted(of: ["", "x", "one two three four five"], in: ["a", "one two three four five"]))
  }

  @Test("nothing can be quoted from an empty source", arguments: ["", " ", "!?", "one two three four"])
  func shortSources(source: String) {
    #expect(!isQuoted(source, in: "one two three four five"))
  }

  @Test(
    "without spaces, ten Chinese characters or kana are a quotation",
    arguments: [
      ("我明天要做一个很重要的演讲", "明天要做一个很重要的", true), ("我明天要做一个很重要的演讲", "明天要做一个很重要", false),
      ("我明天要做，一个很重要的演讲", "明天要做一个 很重要的", true), ("プレゼンテーションが怖いです", "プレゼンテーションはどう", false),
      ("プレゼンテーションが怖いです", "プレゼンテーションが", true), ("我明天要做x一个很重要的", "明天要做一个很重要的", false),
    ])
  func ideographs(source: String, reply: String, expected: Bool) {
    #expect(isQuoted(source, in: reply) == expected)
  }

  @Test("without spaces, sixteen Thai letters are a quotation, marks not counted")
  func thai() {
    let letters = "กขคงจฉชซฌญฎฏฐฑฒณด"
    #expect(isQuoted(letters, in: String(letters.unicodeScalars.prefix(16).map(Character.init))))
    #expect(!isQuoted(letters, in: String(letters.unicodeScalars.prefix(15).map(Character.init))))
    #expect(isQuoted(letters, in: "ก่" + letters.unicodeScalars.dropFirst().prefix(15).map(String.init).joined()))
  }

  @Test(
    "accents of other alphabets do not hide a quotation",
    arguments: [
      ("ещё раз всё моё твоё", "еще раз все мое твое"), ("Ή άλλη μέρα ήταν καλή", "η αλλη μερα ηταν καλη"),
      ("Łódź jest moją małą ojczyzną", "Lodz jest moja mala ojczyzna"), ("tôi rất lo về việc", "toi rat lo ve viec"),
      ("smørrebrød på en lang dag", "smorrebrod pa en lang dag"),
    ])
  func accents(source: String, reply: String) {
    #expect(isQuoted(source, in: reply))
    #expect(isQuoted(reply, in: source))
  }

  /// Work is counted in look-ups, as a clock would depend on the machine. The source is the worst there is: it is made of
  /// the reply's words and never quotes it.
  @Test("a source of a megabyte is looked through once", arguments: [1_000, 10_000, 100_000])
  func linear(words: Int) {
    let check = QuotationCheck(parts: ["a b c d e f"], unit: .words)
    let source = Array(repeating: "f e d c b a a", count: words / 7).joined(separator: " ")
    let result = check.search(source)
    #expect(!result.isQuoted)
    #expect(result.lookups == words / 7 * 7 - 4)
  }

  @Test("a single word of a megabyte, or a megabyte of other words, costs no look-up")
  func strangers() {
    let check = QuotationCheck(parts: ["a b c d e f"], unit: .words)
    #expect(check.search(String(repeating: "a", count: 1_000_000)) == (false, 0))
    #expect(check.search(String(repeating: "a b c d z ", count: 100_000)) == (false, 0))
  }
}
