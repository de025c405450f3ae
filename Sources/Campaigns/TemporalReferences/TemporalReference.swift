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

/// What a text says of whether the thing it dates will happen to its writer.
public enum TemporalStanding: String, Equatable, Sendable {
  /// It lies ahead or is going on.
  case upcoming
  /// It was over when the message was written, or is told as over.
  case past
  /// It was called off, denied, or moved to another time.
  case cancelled
  /// It is wished, supposed, asked or only possible, or the time is one of several.
  case hypothetical
  /// It is somebody else's.
  case anothers
}

/// How finely a text says when something is.
public enum TemporalGrain: String, Equatable, Sendable {
  /// A clock time, or a stretch between two of them.
  case minute
  /// A part of one day, such as its evening.
  case dayPart = "day_part"
  /// One civil day, or the days from one to another.
  case day
  /// A week or a part of one, such as a weekend; which day is not said.
  case week
  /// A month or the end of one; which day is not said.
  case month
  /// A year; which day is not said.
  case year
}

extension TemporalGrain {
  /// Whether the day is known.
  var namesDay: Bool {
    switch self {
    case .minute, .dayPart, .day: true
    case .week, .month, .year: false
    }
  }
}

/// What one text says of times.
public struct TemporalReading: Equatable, Sendable {
  /// Its references, in its order.
  public let references: [TemporalReference]
  /// Events that are called off, or moved to a time that is not said: `presentation` of *the presentation got cancelled*.
  /// None of them has a reference that is still to come.
  public let calledOff: Set<String>

  init(references: [TemporalReference], calledOff: [String]) {
    self.references = references
    let upcoming = references.filter { $0.standing == .upcoming }.compactMap(\.event)
    self.calledOff = Set(calledOff).subtracting(upcoming)
  }
}
