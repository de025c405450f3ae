/// What speaks against the reading of an event in a message. Raw values are stored to explain a run.
package enum ReadingDoubt: String, CaseIterable, Comparable, Encodable, Sendable {
  /// No verb says that the event is ahead: *presentation Friday*.
  case noVerb = "no_verb"
  /// An earlier sentence named the event: *it's on Friday*.
  case eventNamedEarlier = "event_named_earlier"
  /// An earlier sentence named a day, and this one only a time, which may be of that day.
  case dayNamedEarlier = "day_named_earlier"
  /// The hour is over on that day, unless it is one of the evening.
  case hourOver = "hour_over"
  /// Written after midnight, when *tomorrow* may be the day that has begun.
  case afterMidnight = "after_midnight"
  /// The day may be that of something else that is done for the event.
  case purpose
  /// A word beside the time was not understood and may change it.
  case unreadWord = "unread_word"
  /// The text gives only a week, a month or a year.
  case noDay = "no_day"
  /// A count of weeks or months, which are rarely exact to the day.
  case approximate
  case noEvent = "no_event"
  /// It happens again and again, so the text may mean another time.
  case habit
  /// The weekday and the date do not fit.
  case contradiction
  case anothers
  case quoted
  /// A wish, a plan or a mere possibility.
  case possibility
  case condition
  case question
  /// It is a bound, such as *before Friday*.
  case bound
  case alternative
  case denied
  /// It was called off, or moved to another time.
  case calledOff = "called_off"
  /// It is over, or the text speaks of it in the past.
  case past

  /// By name, so that a list of them is always in one order.
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension ReadingDoubt {
  /// The confidence that it leaves.
  ///
  /// The numbers are judgements, not measured frequencies. Their order matters, and on which side of 0.7 each is.
  package var confidenceMax: Double {
    switch self {
    case .noVerb: 0.8
    case .eventNamedEarlier: 0.75
    case .unreadWord, .dayNamedEarlier, .hourOver, .afterMidnight, .purpose: 0.6
    case .noDay, .approximate: 0.5
    case .noEvent, .habit: 0.4
    case .contradiction, .anothers, .quoted, .possibility, .condition, .question, .bound, .alternative: 0.3
    // Not zero, because the reading may be wrong.
    case .denied, .calledOff, .past: 0.05
    }
  }
}
