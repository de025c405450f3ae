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
