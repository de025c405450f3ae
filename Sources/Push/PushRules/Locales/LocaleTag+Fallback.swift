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
