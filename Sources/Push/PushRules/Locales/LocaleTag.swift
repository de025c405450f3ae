/// Whose words: a language, and where it is needed a script and a region, such as `de-AT` or `zh-Hant-HK`.
///
/// The form is that of BCP 47, without variants and extensions. Equal locales are equal values: `zh_hant_tw`, `zh-TW` and
/// `zh-Hant-TW` are one, and so are `iw` and `he`.
package struct LocaleTag: Hashable, Sendable {
  /// The most bytes that are read; RFC 5646 section 4.4.1 finds 35 enough for every tag in use.
  package static let bytesMax = 85

  /// Two or three small letters.
  package let language: String

  /// Four letters, the first a capital; nil for the language's usual one.
  package let script: String?

  /// Two capital letters or three digits; nil for any.
  package let region: String?

  /// The tag, such as `sr-Latn`.
  package var text: String { [language, script, region].compactMap { $0 }.joined(separator: "-") }

  /// Reads a tag, in any case, with `-` or `_`. Variants, extensions, and what follows `.` or `@` are left out.
  ///
  /// Nil for text of another form, for text longer than ``bytesMax``, and for `und`, which names no language.
  package init?(_ text: some StringProtocol) {
    guard text.utf8.count <= Self.bytesMax else { return nil }
    let bare = text.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
    let parts = bare.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    let subtags = parts.map { Subtag($0) }
    guard subtags.allSatisfy(\.isWellFormed), subtags[0].isLetters, (2...3).contains(subtags[0].count) else {
      return nil
    }
    var rest = subtags.dropFirst()
    while rest.first?.isExtendedLanguage == true { rest = rest.dropFirst() }
    let script = rest.first.flatMap { $0.isScript ? $0.capitalised : nil }
    if script != nil { rest = rest.dropFirst() }
    let region = rest.first.flatMap { $0.isRegion ? $0.text.uppercased() : nil }
    guard subtags[0].text != "und" else { return nil }
    self.init(language: subtags[0].text, script: script, region: region)
  }

  /// Replaces what has another name now, and leaves out a script that goes without saying.
  private init(language: String, script: String?, region: String?) {
    let (language, implied) = Self.newNames[language] ?? (language, nil)
    let regional = region.flatMap { Self.scriptsOfRegions["\(language)-\($0)"] }
    let written = script ?? implied ?? regional
    let goesWithoutSaying = written == Self.usualScripts[language] && regional == nil
    self.init(known: language, script: goesWithoutSaying ? nil : written, region: region)
  }

  /// Of texts that name no locale.
  package static let english = LocaleTag(known: "en", script: nil, region: nil)

  init(known language: String, script: String?, region: String?) {
    self.language = language
    self.script = script
    self.region = region
  }

  /// Languages that go by another name, with the script that it had. Norwegian is written in Bokmål unless it says Nynorsk.
  private static let newNames: [String: (String, String?)] = [
    "iw": ("he", nil), "in": ("id", nil), "ji": ("yi", nil), "jw": ("jv", nil), "mo": ("ro", nil), "tl": ("fil", nil),
    "nb": ("no", nil), "cmn": ("zh", nil), "sh": ("sr", "Latn"),
  ]

  /// Languages that are written in several scripts, with the one that is meant when none is named.
  static let usualScripts = [
    "az": "Latn", "bs": "Latn", "hi": "Deva", "kk": "Cyrl", "ky": "Cyrl", "mn": "Cyrl", "ms": "Latn", "pa": "Guru",
    "sr": "Cyrl", "ur": "Arab", "uz": "Latn", "zh": "Hans",
  ]

  /// Where another script is usual. Source: CLDR's likely subtags.
  private static let scriptsOfRegions = [
    "az-IR": "Arab", "kk-CN": "Arab", "mn-CN": "Mong", "pa-PK": "Arab", "sr-ME": "Latn", "uz-AF": "Arab",
    "zh-HK": "Hant", "zh-MO": "Hant", "zh-TW": "Hant",
  ]
}

/// A part of a tag, in lower case.
private struct Subtag {
  let text: String
  let isLetters: Bool
  let isWellFormed: Bool

  init(_ bytes: Substring.UTF8View.SubSequence) {
    text = String(decoding: bytes, as: UTF8.self).lowercased()
    isLetters = bytes.allSatisfy(\.isLetter)
    isWellFormed = (1...8).contains(bytes.count) && bytes.allSatisfy { $0.isLetter || $0.isDigit }
  }

  init(_ bytes: some Sequence<UInt8>) { self.init(Substring(decoding: Array(bytes), as: UTF8.self).utf8) }

  var count: Int { text.utf8.count }
  var isExtendedLanguage: Bool { isLetters && count == 3 }
  var isScript: Bool { isLetters && count == 4 }
  var isRegion: Bool { isLetters && count == 2 || count == 3 && text.utf8.allSatisfy(\.isDigit) }
  var capitalised: String { text.prefix(1).uppercased() + text.dropFirst() }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

extension LocaleTag {
  /// The locale, and those whose words serve in its place, the nearest first; never empty, at most five.
  ///
  /// A region falls back to the group of regions that writes like it, and then to the language. A script that is not the
  /// language's usual one falls back to nothing else: who reads Traditional Chinese is not helped by Simplified.
  /// Source: CLDR's parent locales, and RFC 4647 section 3.4 for the rest.
  package var fallbacks: [LocaleTag] {
    var chain = [self]
    while let parent = chain[chain.count - 1].parent { chain.append(parent) }
    return chain
  }

  private var parent: LocaleTag? {
    if let region {
      let group = script == nil || script == "Hant" ? Self.group(of: region, in: language) : nil
      return LocaleTag(known: language, script: script == Self.usualScripts[language] ? nil : script, region: group)
    }
    if script != nil {
      return Self.usualScripts[language] == nil ? LocaleTag(known: language, script: nil, region: nil) : nil
    }
    return language == "nn" ? LocaleTag(known: "no", script: nil, region: nil) : nil
  }

  /// The region whose words serve in another one; nil for those of the language itself.
  private static func group(of region: String, in language: String) -> String? {
    switch (language, region) {
    case ("en", "150"): "001"
    case ("en", _) where continentalEnglish.contains(region): "150"
    case ("en", _) where worldEnglish.contains(region): "001"
    case ("es", _) where americanSpanish.contains(region): "419"
    case ("pt", _) where europeanPortuguese.contains(region): "PT"
    case ("zh", "MO"): "HK"
    default: nil
    }
  }

  private static let continentalEnglish = regions(
    "AT BE CH CZ DE DK EE ES FI FR GE HU IT LT LV NL NO PL PT RO SE SI SK UA")

  private static let worldEnglish = regions(
    """
    AG AI AU BB BM BS BW BZ CC CK CM CX CY DG DM ER FJ FK FM GB GD GG GH GI GM GS GY HK ID IE IL IM IN IO JE JM KE KI KN KY \
    LC LR LS MG MO MS MT MU MV MW MY NA NF NG NR NU NZ PG PK PN PW RW SB SC SD SG SH SL SS SX SZ TC TK TO TT TV TZ UG VC VG \
    VU WS ZA ZM ZW
    """)

  private static let americanSpanish = regions("AR BO BR BZ CL CO CR CU DO EC GT HN JP MX NI PA PE PR PY SV US UY VE")

  private static let europeanPortuguese = regions("AO CH CV FR GQ GW LU MO MZ ST TL")

  private static func regions(_ list: String) -> Set<String> { Set(list.split(separator: " ").map(String.init)) }
}

/// Which words were taken for a device, and which it asked for.
package struct LocaleChoice: Hashable, Sendable {
  package let asked: LocaleTag

  package let shown: LocaleTag

  /// The nearest of some locales.
  /// - Returns: nil when the default text serves.
  package init?(asked: LocaleTag, among isOffered: (LocaleTag) -> Bool) {
    guard let shown = asked.fallbacks.first(where: isOffered) else { return nil }
    self.asked = asked
    self.shown = shown
  }
}
