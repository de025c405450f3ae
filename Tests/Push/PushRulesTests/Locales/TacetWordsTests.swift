import Testing

@testable import PushRules

@Suite("Tacet's own words")
struct TacetWordsTests {
  private func more(_ count: Int, _ locale: String?) -> String {
    TacetWords.builtIn.text(.more, count: count, in: locale.flatMap { LocaleTag($0) })
  }

  @Test(
    "further messages are counted as the language counts",
    arguments: [
      (1, "en", "+1 more"), (4, "en-GB", "+4 more"), (4, "de-AT", "+4 weitere"), (1, "fr-CA", "+1 autre"),
      (2, "fr", "+2 autres"), (1_000_000, "fr", "+1000000 autres"), (1, "pl", "+1 inna"), (3, "pl", "+3 inne"),
      (5, "pl", "+5 innych"), (22, "pl", "+22 inne"), (1, "cs", "+1 další"), (5, "cs", "+5 dalších"),
      (3, "zh-TW", "另外 3 則"), (3, "zh-CN", "另外 3 条"), (3, "ja-JP", "他3件"), (7, "ar-EG", "+7 أخرى"),
      (4, "nb", "+4 til"), (4, "xx", "+4 more"), (4, nil, "+4 more"),
    ] as [(Int, String?, String)])
  func counted(count: Int, locale: String?, text: String) {
    #expect(more(count, locale) == text)
  }

  @Test("each locale that has one word has both, and every text of a number has the number")
  func complete() throws {
    let lines = EmbeddedFiles.words_vocabulary.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let locales = Set(lines.map { $0.prefix { $0 != " " } })
    #expect(locales.count >= 15)
    for locale in locales where locale != "en" {
      let tag = try #require(LocaleTag(locale))
      #expect(tag.text == locale)
      for name in TacetWords.Name.allCases {
        #expect(TacetWords.builtIn.text(name, count: 2, in: tag) != TacetWords.builtIn.text(name, count: 2, in: nil))
      }
      for count in 0...200 { #expect(TacetWords.builtIn.text(.more, count: count, in: tag).contains("\(count)")) }
    }
  }

  @Test("a host's text takes the place of Tacet's own, for its locale and those that fall back to it")
  func overridden() throws {
    var words = TacetWords.builtIn
    let german = try #require(LocaleTag("de"))
    words.set(.newMessage, to: "Post ist da", in: german)
    words.set(.more, to: "noch eine", for: .one, in: german)
    #expect(words.text(.newMessage, in: LocaleTag("de-CH")) == "Post ist da")
    #expect(words.text(.more, count: 1, in: german) == "noch eine")
    #expect(words.text(.more, count: 2, in: german) == "+2 weitere")
    #expect(words.text(.newMessage, in: LocaleTag("fr")) == "Nouveau message")
  }
}
