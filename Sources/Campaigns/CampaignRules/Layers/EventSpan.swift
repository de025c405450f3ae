public import FoundationEssentials

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
