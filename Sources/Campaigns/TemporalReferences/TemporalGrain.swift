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
