package import FoundationEssentials

/// Finds times and their events in a message.
///
/// Pure: the same arguments give the same result, and no clock is read. Time and memory are linear in the text.
package struct TemporalReferenceFinder: Sendable {
  private let language: TemporalLanguage
  private let referencesMax: Int

  /// A finder.
  /// - Parameters:
  ///   - language: the language of all texts.
  ///   - referencesMax: the most references of one text, at least 1. Later phrases are dropped, but later cancellations
  ///     still count. A chat message rarely names more than five times; 64 leaves room for a pasted timetable and
  ///     bounds the cost of one message.
  package init(language: TemporalLanguage = .english, referencesMax: Int = 64) {
    precondition(referencesMax > 0, "a finder that may find nothing")
    self.language = language
    self.referencesMax = referencesMax
  }

  /// The references of a text, and the events that it calls off.
  ///
  /// Times are resolved against `writtenAt`, so that *tomorrow* in an old message is the day after that message. Never
  /// fails; a text in another language has no references.
  /// - Parameters:
  ///   - text: of any length.
  ///   - writtenAt: when the writer sent it.
  ///   - zone: the writer's zone at that time.
  ///   - dateOrder: the order of numeric dates in the writer's country.
  package func reading(
    of text: String, writtenAt: Date, zone: ZoneRules, dateOrder: NumericDateOrder
  ) -> TemporalReading {
    let resolver = PhraseResolver(writtenAt: writtenAt, zone: zone)
    var collector = ReferenceCollector(resolver: resolver, referencesMax: referencesMax)
    var sentences = SentenceReader(text, in: language)
    var isQuoted = false
    while let sentence = sentences.next() {
      let lexemes = LexemeReader(language: language, tokens: sentence.tokens).lexemes()
      let grammar = PhraseGrammar(
        lexemes: lexemes, order: dateOrder, hasTwentyFourHours: language.hasTwentyFourHours)
      let phrases = collector.isFull ? [] : grammar.phrases()
      let map = SentenceMap(lexemes: lexemes, isQuestion: sentence.isQuestion, beginsQuoted: isQuoted)
      isQuoted = map.endsQuoted
      collector.read(map, phrases: phrases)
    }
    return TemporalReading(references: collector.entries.map(\.reference), calledOff: collector.calledOff)
  }
}

/// The order in which a country writes the numbers of a date.
package enum NumericDateOrder: String, Equatable, Sendable {
  /// 2/20/2026, as in the United States.
  case monthDayYear = "mdy"
  /// 20/2/2026, as in most countries.
  case dayMonthYear = "dmy"
  /// 2026/2/20, and 2/20 without the year, as in East Asia.
  case yearMonthDay = "ymd"
}

extension NumericDateOrder {
  /// The order of a locale such as `en_US`, `en-GB` or `zh-Hant-TW`.
  ///
  /// The region decides, or else the language's largest region, which matters only for English and the year-first
  /// languages. Unicode extensions and POSIX modifiers are ignored. An unknown identifier has the order of most
  /// countries.
  package init(localeIdentifier: String) {
    let bare = localeIdentifier.prefix { $0 != "@" && $0 != "." }
    let parts = bare.split { "_-".contains($0) }.map(String.init).prefix { $0.count > 1 }
    let language = parts.first?.lowercased() ?? ""
    let region = parts.dropFirst().first { $0.count == 2 }?.uppercased()
    self = Self.order(ofRegion: region ?? Self.largestRegions[language] ?? "")
  }

  /// Source: CLDR's short date patterns.
  private static func order(ofRegion region: String) -> Self {
    switch region {
    case "US", "AS", "FM", "GU", "MH", "MP", "PH", "PR", "PW", "UM", "VI": .monthDayYear
    case "CN", "HU", "IR", "JP", "KP", "KR", "LT", "MN", "TW", "ZA": .yearMonthDay
    default: .dayMonthYear
    }
  }

  /// The regions of languages whose order differs from the usual one.
  private static let largestRegions = [
    "en": "US", "fa": "IR", "hu": "HU", "ja": "JP", "ko": "KR", "lt": "LT", "mn": "MN", "zh": "CN",
  ]
}
