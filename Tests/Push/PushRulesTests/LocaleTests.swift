import TestRepository
import Testing

@testable import PushRules

@Suite("Locales")
struct LocaleTagTests {
  @Test(
    "every way to write a locale is one value",
    arguments: [
      ("de", "de"), ("DE", "de"), ("de-AT", "de-AT"), ("de_at", "de-AT"), ("de_AT.UTF-8@euro", "de-AT"),
      ("zh-Hant-TW", "zh-Hant-TW"), ("zh_hant_tw", "zh-Hant-TW"), ("zh-TW", "zh-Hant-TW"), ("zh-Hans-CN", "zh-CN"),
      ("zh-HK", "zh-Hant-HK"), ("zh-Hans-HK", "zh-Hans-HK"), ("sr-Latn", "sr-Latn"), ("sr-Cyrl-RS", "sr-RS"),
      ("sh", "sr-Latn"), ("sr-ME", "sr-Latn-ME"), ("iw", "he"), ("in-ID", "id-ID"), ("nb-NO", "no-NO"), ("nn", "nn"),
      ("es-419", "es-419"), ("en-001", "en-001"), ("fil-PH", "fil-PH"), ("tl", "fil"), ("cmn-Hans-CN", "zh-CN"),
      ("zh-cmn-Hans-CN", "zh-CN"), ("de-DE-1996", "de-DE"), ("de-1996", "de"), ("en-US-u-ca-gregory", "en-US"),
      ("en-Latn-US-x-app", "en-Latn-US"), ("de-", nil), ("-de", nil), ("de--AT", nil), ("", nil), ("d", nil),
      ("und", nil), ("root", nil), ("deutsch", nil), ("1e", nil), ("d1", nil), ("de-AT-", nil), ("de-ätt", nil),
      ("de AT", nil), ("de-abcdefghi", nil), ("d\u{0}", nil), ("*", nil),
      ("en-US-" + String(repeating: "a", count: 80), nil),
    ] as [(String, String?)])
  func tags(text: String, tag: String?) {
    #expect(LocaleTag(text)?.text == tag)
    if let tag { #expect(LocaleTag(tag)?.text == tag) }
  }

  @Test(
    "a tag that is cut at any byte is read as what is left, or refused", arguments: ["zh_Hant_HK", "sr-Latn-RS-ekavsk"])
  func cut(text: String) {
    for length in 0...text.utf8.count {
      let part = String(decoding: text.utf8.prefix(length), as: UTF8.self)
      guard let tag = LocaleTag(part) else { continue }
      #expect(tag.language == text.prefix(tag.language.utf8.count))
      #expect(LocaleTag(tag.text) == tag)
    }
  }

  @Test(
    "what serves in place of a locale, the nearest first",
    arguments: [
      ("de-AT", "de-AT de"), ("de", "de"), ("en-US", "en-US en"), ("en-GB", "en-GB en-001 en"),
      ("en-AT", "en-AT en-150 en-001 en"), ("en-001", "en-001 en"), ("es-MX", "es-MX es-419 es"), ("es-ES", "es-ES es"),
      ("pt-BR", "pt-BR pt"), ("pt-AO", "pt-AO pt-PT pt"), ("pt-PT", "pt-PT pt"), ("zh-CN", "zh-CN zh"),
      ("zh-SG", "zh-SG zh"), ("zh-TW", "zh-Hant-TW zh-Hant"), ("zh-MO", "zh-Hant-MO zh-Hant-HK zh-Hant"),
      ("zh-Hans", "zh"), ("zh-Hans-HK", "zh-Hans-HK zh"), ("sr-Latn-BA", "sr-Latn-BA sr-Latn"), ("sr-BA", "sr-BA sr"),
      ("nb-NO", "no-NO no"),
      ("nn-NO", "nn-NO nn no"), ("en-Latn-US", "en-Latn-US en-Latn en"), ("iw-IL", "he-IL he"),
    ])
  func fallbacks(text: String, chain: String) throws {
    #expect(try #require(LocaleTag(text)).fallbacks.map(\.text).joined(separator: " ") == chain)
  }

  @Test(
    "the nearest of the texts that there are",
    arguments: [
      ("de-AT", "de fr", "de"), ("de-AT", "de de-AT", "de-AT"), ("de", "de-AT", nil), ("fr-CA", "de", nil),
      ("zh-Hant-HK", "zh", nil), ("zh-Hant-HK", "zh zh-Hant", "zh-Hant"), ("zh-SG", "zh zh-Hant", "zh"),
      ("pt-AO", "pt pt-PT", "pt-PT"), ("pt-BR", "pt pt-PT", "pt"), ("es-AR", "es es-419", "es-419"),
      ("nb", "no", "no"), ("en-GB", "en-US", nil),
    ] as [(String, String, String?)])
  func choice(asked: String, offered: String, shown: String?) throws {
    let asked = try #require(LocaleTag(asked))
    let offered = Set(offered.split(separator: " ").compactMap { LocaleTag($0) })
    let choice = LocaleChoice(asked: asked) { offered.contains($0) }
    #expect(choice?.shown.text == shown)
    #expect(choice.map { $0.asked == asked } ?? true)
  }
}

@Suite("Plurals")
struct PluralCategoryTests {
  /// Made by Babel 2.19 of CLDR's rules: a language, a category, and numbers and ranges that have it.
  private static func cases() throws -> [(locale: LocaleTag, category: PluralCategory, numbers: [ClosedRange<Int>])] {
    let text = try Repository.text("Tests/Push/PushRulesTests/Locales/plural-cases.txt")
    return try text.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      let numbers = words[2].split(separator: ",").map { range in
        let ends = range.split(separator: "-").compactMap { Int($0) }
        return ends[0]...ends[ends.count - 1]
      }
      return (
        try #require(LocaleTag(words[0])), try #require(PluralCategory(rawValue: String(words[1]))), numbers
      )
    }
  }

  @Test("whole numbers have the category that CLDR gives them, in 57 languages")
  func table() throws {
    let cases = try Self.cases()
    #expect(Set(cases.map(\.locale)).count == 57)
    var count = 0
    for (locale, category, numbers) in cases {
      for number in numbers.joined() {
        count += 1
        let found = PluralCategory(of: number, in: locale)
        if found != category { Issue.record("\(locale.text) \(number): \(found), not \(category)") }
      }
    }
    #expect(count == 57 * 231)
  }

  @Test("a region and a script have the rules of their language, and a language without rules has one form")
  func inherited() throws {
    func category(_ count: Int, _ locale: String) throws -> PluralCategory {
      PluralCategory(of: count, in: try #require(LocaleTag(locale)))
    }
    #expect(try category(2, "ru-KZ") == .few && category(2, "sr-Latn-BA") == .few)
    #expect(try category(0, "pt-AO") == .other && category(0, "pt-BR") == .one)
    #expect(try category(1, "nb-NO") == .one && category(2, "iw") == .two)
    #expect(try category(1, "zh-TW") == .other && category(1, "tlh") == .other)
    #expect(try category(-1, "en") == .one && category(.min, "ar") == .few && category(.max, "en") == .other)
  }

  @Test("every language's rules can be read, and none repeats a language")
  func rules() {
    let lines = EmbeddedFiles.plurals_vocabulary.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let languages = lines.flatMap { $0.halves(at: ":").0.split(separator: " ") }
    #expect(Set(languages).count == languages.count && PluralRules.table.count == languages.count)
  }
}

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
