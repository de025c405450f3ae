public import FoundationEssentials

/// What one message says about one event.
///
/// What is only wished or supposed, and what is somebody else's, is no happening.
public struct Happening: Equatable, Sendable {
  /// How the message speaks of the event.
  public enum Standing: Equatable, Sendable {
    /// It is still to come.
    case upcoming
    /// It was called off, or moved to a time that was not named.
    case cancelled
    /// It has taken place.
    case over
  }

  /// The event's canonical word, such as `presentation`; never the user's own text. Two happenings with the same word are
  /// about the same event.
  public var event: String
  /// When it is; nil when the message names no time. Without one an upcoming event says nothing.
  public var span: EventSpan?
  /// How sure the reading is, in 0...1. What is not a number counts as 0.
  public let confidence: Double
  /// When the message was written.
  public var writtenAt: Date
  /// How the message speaks of it.
  public var standing: Standing
  /// The part of life of the message's conversation; nil when unknown.
  public var domain: String?

  /// A happening; a confidence outside 0...1 is moved to the nearer end.
  public init(
    event: String,
    span: EventSpan?,
    confidence: Double,
    writtenAt: Date,
    standing: Standing = .upcoming,
    domain: String? = nil
  ) {
    self.event = event
    self.span = span
    self.confidence = confidence.asProportion
    self.writtenAt = writtenAt
    self.standing = standing
    self.domain = domain
  }
}

/// When something happens: an instant, a part of a day, a day, or longer.
public struct EventSpan: Equatable, Sendable {
  /// The first instant.
  public let start: Date
  /// The first instant afterwards; equal to the start for an instant, never before it.
  public let end: Date
  /// Whether only days were named, no time of day.
  public let isDayOnly: Bool

  /// A span; an end before the start counts as the start.
  public init(start: Date, end: Date, isDayOnly: Bool = false) {
    self.start = start
    self.end = max(start, end)
    self.isDayOnly = isDayOnly
  }

  /// How precisely the time is known.
  public var grain: EventGrain {
    if end.timeIntervalSince(start) > Self.dayMax { return .period }
    if isDayOnly { return .day }
    return start == end ? .instant : .partOfDay
  }

  /// The longest day of a user's clock: 25 hours, when daylight saving time ends.
  private static let dayMax = 25.0 * 3_600

  /// Whether all of it is past; an instant is past at itself.
  func isOver(at moment: Date) -> Bool { end <= moment }

  /// Whether some of it lies in `(moment, horizon]`.
  func reaches(after moment: Date, until horizon: Date) -> Bool { end > moment && start <= horizon }

  /// Whether two share an instant; an instant shares itself.
  func overlaps(_ other: EventSpan) -> Bool {
    if start == other.start { return true }
    return start < other.end && other.start < end
  }
}

/// How precisely an event's time is known. Raw values are stored in the log.
public enum EventGrain: String, CaseIterable, Sendable {
  /// To the minute.
  case instant
  /// To a part of a day, such as a morning.
  case partOfDay = "part_of_day"
  /// To the day.
  case day
  /// To several days, such as a week.
  case period
}

/// When an event is, in words relative to the user's own day.
///
/// Days and their parts are named, never hours: a push is read some time after it was written, and "in two hours" is wrong
/// by then while "this afternoon" still holds.
struct EventWording {
  /// One of the words that the push may use, such as `tomorrow morning`.
  let words: String

  /// - Parameter span: not over at the moment, and begun within a day of it.
  init(of span: EventSpan, at moment: Date, in localTime: LocalTime) {
    let start = max(span.start, moment)
    switch span.grain {
    case .period: words = span.start <= moment ? "these days" : "in the coming days"
    case .day: words = localTime.day(of: start) <= localTime.day(of: moment) ? "today" : "tomorrow"
    case .instant, .partOfDay: words = Self.partOfDay(of: start, at: moment, in: localTime)
    }
  }

  /// The hours before five belong to the night that began the day before: at noon, one o'clock at night is "tonight".
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
