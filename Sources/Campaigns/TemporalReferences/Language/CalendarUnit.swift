/// A stretch of the clock or the calendar.
public enum CalendarUnit: Hashable, Sendable {
  /// 60 seconds that pass.
  case minute
  /// 60 minutes that pass.
  case hour
  /// A civil day.
  case day
  /// A civil week, from Monday to Sunday (ISO 8601).
  case week
  /// The Saturday and Sunday that end a civil week.
  case weekend
  /// A month of the calendar.
  case month
  /// A year of the calendar.
  case year
}
