public import Foundation

/// A moment or stretch of time that a text names, and what is going on then.
///
/// It holds no text of the message: ``event`` is a word of the language's table, so a record of it holds nothing
/// personal.
public struct TemporalReference: Equatable, Sendable {
  /// Where the phrase stands in the text, in UTF-8 bytes from its start; never empty.
  public let span: Range<Int>
  /// The first instant that is meant.
  public let start: Date
  /// The instant after the last that is meant; never before ``start``. Equal to it for a clock time, and for a day that
  /// its zone never had.
  public let end: Date
  /// How finely the text says when.
  public let grain: TemporalGrain
  /// What is going on then, as the language's table describes it, such as `presentation`; nil when nothing known.
  public let event: String?
  /// Whether the event still lies ahead, as far as the text tells.
  public internal(set) var standing: TemporalStanding
  /// How likely the writer has this event coming up at this time, in `0 ... 1`.
  ///
  /// At least 0.7 when the text names an event and its day, and neither doubts, denies nor ends it: 0.9 with a verb or
  /// phrase that says it lies ahead, 0.8 without, 0.75 when the event was named in an earlier sentence. Below for all
  /// else: 0.5 for an event of which only the week, month or year is said, 0.4 for a time without an event, 0.3 for what
  /// is hypothetical or another's, 0.05 for what is past or cancelled.
  public internal(set) var confidence: Double
  /// The instant of the message, against which everything was resolved.
  public let writtenAt: Date
}
