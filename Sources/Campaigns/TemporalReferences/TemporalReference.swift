package import FoundationEssentials

/// A moment or stretch of time that a text names, and what is going on then.
///
/// It holds no text of the message: ``event`` is a word of the language's table, so a record of it is not personal.
package struct TemporalReference: Equatable, Sendable {
  /// The position of the phrase in the text, in UTF-8 bytes; never empty.
  package let span: Range<Int>
  package let start: Date
  /// The first instant after the end; never before ``start``. Equal to it for a clock time, and for a day that the zone
  /// skipped.
  package let end: Date
  package let grain: TemporalGrain
  /// The event, as the language's table describes it, such as `presentation`; nil when the text names no known event.
  package let event: String?
  package internal(set) var doubts: Set<ReadingDoubt>
  /// The instant of the message. All times are resolved against it.
  package let writtenAt: Date
}

extension TemporalReference {
  /// The likelihood that this event of the writer takes place at this time, in `0 ... 1`: 0.9, or what the gravest of
  /// the doubts leaves. From 0.7 on, a push may say *your presentation is tomorrow*.
  package var confidence: Double { doubts.map(\.confidenceMax).min() ?? 0.9 }

  /// Whether the event is still ahead, according to the text. A cancelled or past event is that for every owner and in
  /// every wording.
  package var standing: TemporalStanding {
    let standings = Set(doubts.compactMap(\.standing))
    return [.cancelled, .past, .hypothetical, .anothers].first(where: standings.contains) ?? .upcoming
  }
}

extension ReadingDoubt {
  /// The standing that it gives to its reference.
  var standing: TemporalStanding? {
    switch self {
    case .denied, .calledOff: .cancelled
    case .past: .past
    case .possibility, .condition, .question, .bound, .alternative: .hypothetical
    case .anothers, .quoted: .anothers
    case .noVerb, .eventNamedEarlier, .dayNamedEarlier, .hourOver, .afterMidnight, .purpose, .unreadWord, .noDay,
      .approximate, .noEvent, .habit,
      .contradiction:
      nil
    }
  }
}

/// Whether the event will happen to the writer, according to the text.
package enum TemporalStanding: String, Equatable, Sendable {
  /// It is ahead or going on.
  case upcoming
  /// It was over when the message was written, or the text speaks of it in the past.
  case past
  /// It was called off, denied, or moved to another time.
  case cancelled
  /// It is a wish, an assumption, a question or a possibility, or the time is one of several.
  case hypothetical
  case anothers
}

package enum TemporalGrain: String, Equatable, Sendable {
  /// A clock time, or a stretch between two of them.
  case minute
  case dayPart = "day_part"
  /// One civil day, or the days from one to another.
  case day
  /// A week or a part of one, such as a weekend, without the day.
  case week
  /// A month or the end of one, without the day.
  case month
  case year
}

extension TemporalGrain {
  var namesDay: Bool {
    switch self {
    case .minute, .dayPart, .day: true
    case .week, .month, .year: false
    }
  }
}

package struct TemporalReading: Equatable, Sendable {
  /// Its references, in the order of the text.
  package let references: [TemporalReference]
  /// Events that are called off, or moved without a new time: `presentation` in *the presentation got cancelled*. No
  /// upcoming reference has one of these events.
  package let calledOff: Set<String>

  init(references: [TemporalReference], calledOff: [String]) {
    self.references = references
    let upcoming = references.filter { $0.standing == .upcoming }.compactMap(\.event)
    self.calledOff = Set(calledOff).subtracting(upcoming)
  }
}
