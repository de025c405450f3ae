package import FoundationEssentials
package import TemporalReferences

/// One message's statement about one event.
package struct Happening: Equatable, Sendable {
  package enum Standing: Equatable, Sendable {
    /// It has not begun, or it is going on.
    case upcoming
    /// It was called off, or moved without a new time.
    case cancelled
    case over
    /// It is a wish, an assumption or another person's. It only explains why nothing was found.
    case doubtful
  }

  /// The event's canonical word, such as `presentation`; never the user's own text. The same word means the same event.
  package var event: String
  /// The event's time; nil when the message names none. An upcoming event without a time is ignored.
  package var span: EventSpan?
  /// The confidence of the reading, in 0...1; 0 for NaN.
  package let confidence: Double
  package var writtenAt: Date
  package var standing: Standing
  /// The domain of the message's conversation; nil when unknown.
  package var domain: String?
  package var doubts: Set<ReadingDoubt>

  /// A happening. A confidence outside 0...1 is clamped.
  package init(
    event: String,
    span: EventSpan?,
    confidence: Double,
    writtenAt: Date,
    standing: Standing = .upcoming,
    domain: String? = nil,
    doubts: Set<ReadingDoubt> = []
  ) {
    self.event = event
    self.span = span
    self.confidence = confidence.asProportion
    self.writtenAt = writtenAt
    self.standing = standing
    self.domain = domain
    self.doubts = doubts
  }
}

/// The time of an event: an instant, a part of a day, a day, or longer.
package struct EventSpan: Equatable, Sendable {
  package let start: Date
  /// The first instant afterwards; equal to the start for an instant, never before it.
  package let end: Date
  /// Whether the message names days and no time of day.
  package let isDayOnly: Bool

  /// A span. An end before the start becomes the start.
  package init(start: Date, end: Date, isDayOnly: Bool = false) {
    self.start = start
    self.end = max(start, end)
    self.isDayOnly = isDayOnly
  }

  package var grain: EventGrain {
    if end.timeIntervalSince(start) > Self.dayMax { return .period }
    if isDayOnly { return .day }
    return start == end ? .instant : .partOfDay
  }

  /// The longest local day: 25 hours, when daylight saving time ends.
  private static let dayMax = 25.0 * 3_600

  /// Whether it has ended. An instant has ended at itself.
  func isOver(at moment: Date) -> Bool { end <= moment }

  func reaches(after moment: Date, until horizon: Date) -> Bool { end > moment && start <= horizon }

  /// Whether two spans share an instant. An instant shares itself.
  func overlaps(_ other: EventSpan) -> Bool {
    if start == other.start { return true }
    return start < other.end && other.start < end
  }
}

/// The precision of an event's time. Raw values are stored in the log.
package enum EventGrain: String, CaseIterable, Encodable, Sendable {
  /// To the minute.
  case instant
  /// To a part of a day, such as a morning.
  case partOfDay = "part_of_day"
  case day
  /// To several days, such as a week.
  case period
}

/// The time of an event in words relative to the user's day.
///
/// It names days and parts of days, never hours: a push is read some time after it was written, when "in two hours" is
/// wrong and "this afternoon" is still right.
struct EventWording {
  /// Words for the push, such as `tomorrow morning`.
  let words: String

  /// - Parameter span: not over at the moment, with a start at most a day after it.
  init(of span: EventSpan, at moment: Date, in localTime: LocalTime) {
    let start = max(span.start, moment)
    switch span.grain {
    case .period: words = span.start <= moment ? "these days" : "in the coming days"
    case .day: words = localTime.day(of: start) <= localTime.day(of: moment) ? "today" : "tomorrow"
    case .instant, .partOfDay: words = Self.partOfDay(of: start, at: moment, in: localTime)
    }
  }

  /// The hours before five belong to the night of the day before: at noon, one o'clock at night is "tonight".
  private static func partOfDay(of start: Date, at moment: Date, in localTime: LocalTime) -> String {
    let hour = localTime.hour(of: start)
    let daysAhead = localTime.day(of: start) - (hour < 5 ? 1 : 0) - localTime.day(of: moment)
    let isToday = daysAhead <= 0
    switch hour {
    case 5..<12: return isToday ? "this morning" : "tomorrow morning"
    case 12..<18: return isToday ? "this afternoon" : "tomorrow afternoon"
    default: return isToday ? "tonight" : "tomorrow evening"
    }
  }
}
