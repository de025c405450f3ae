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
