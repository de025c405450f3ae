public import Foundation

/// Finds in a message when something is, and what.
///
/// Pure: the same arguments give the same references; no clock is read. Time and memory are linear in the text.
public struct TemporalReferenceFinder: Sendable {
  /// The words that are understood.
  public let language: TemporalLanguage
  /// The most references of one text; phrases after that many are not returned, but cancellations after them count.
  public let referencesMax: Int

  /// A finder.
  /// - Parameters:
  ///   - language: the language of all texts.
  ///   - referencesMax: at least 1. A chat message names seldom more than five times; 64 leaves room for a pasted
  ///     timetable and bounds what one message can cost its reader.
  public init(language: TemporalLanguage = .english, referencesMax: Int = 64) {
    precondition(referencesMax > 0, "a finder that may find nothing")
    self.language = language
    self.referencesMax = referencesMax
  }

  /// The references of a text, in its order.
  ///
  /// Everything is resolved against `writtenAt`, so that *tomorrow* in an old message is the day after that message.
  /// Never fails; a text of another language has no references.
  /// - Parameters:
  ///   - text: of any length.
  ///   - writtenAt: when the writer sent it.
  ///   - zone: the writer's, then.
  ///   - dateOrder: how the writer's country writes dates in digits.
  public func references(
    in text: String, writtenAt: Date, zone: TimeZone, dateOrder: NumericDateOrder
  ) -> [TemporalReference] {
    reading(of: text, writtenAt: writtenAt, zone: zone, dateOrder: dateOrder).references
  }

  /// The references of a text, and the events that it calls off; parameters as of
  /// ``references(in:writtenAt:zone:dateOrder:)``.
  public func reading(
    of text: String, writtenAt: Date, zone: TimeZone, dateOrder: NumericDateOrder
  ) -> TemporalReading {
    let resolver = PhraseResolver(writtenAt: writtenAt, zone: zone)
    var collector = ReferenceCollector(resolver: resolver, referencesMax: referencesMax)
    var sentences = SentenceReader(text, abbreviations: language.abbreviations)
    while let sentence = sentences.next() {
      let lexemes = LexemeReader(language: language, tokens: sentence.tokens).lexemes()
      let phrases = collector.isFull ? [] : PhraseGrammar(lexemes: lexemes, order: dateOrder).phrases()
      collector.read(SentenceMap(lexemes: lexemes, isQuestion: sentence.isQuestion), phrases: phrases)
    }
    return TemporalReading(references: collector.entries.map(\.reference), calledOff: collector.calledOff)
  }
}

/// The order in which a reader's country writes the numbers of a date.
public enum NumericDateOrder: String, Equatable, Sendable {
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
  /// Its region decides. Without one the language's largest region does, which only matters for English and the
  /// year-first languages. Unicode extensions and POSIX modifiers are ignored. Never fails: an unknown identifier has
  /// the order of most countries.
  public init(localeIdentifier: String) {
    let bare = localeIdentifier.prefix { $0 != "@" && $0 != "." }
    let parts = bare.split { "_-".contains($0) }.map(String.init).prefix { $0.count > 1 }
    let language = parts.first?.lowercased() ?? ""
    let region = parts.dropFirst().first { $0.count == 2 }?.uppercased()
    self = Self.order(ofRegion: region ?? Self.largestRegions[language] ?? "")
  }

  /// Regions that write the month first, and those that write the year first, by CLDR's short date patterns.
  private static func order(ofRegion region: String) -> Self {
    switch region {
    case "US", "AS", "FM", "GU", "MH", "MP", "PH", "PR", "PW", "UM", "VI": .monthDayYear
    case "CN", "HU", "IR", "JP", "KP", "KR", "LT", "MN", "TW", "ZA": .yearMonthDay
    default: .dayMonthYear
    }
  }

  /// The regions of languages written without one, where they differ from the usual order.
  private static let largestRegions = [
    "en": "US", "fa": "IR", "hu": "HU", "ja": "JP", "ko": "KR", "lt": "LT", "mn": "MN", "zh": "CN",
  ]
}
