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
