/// A day or stretch of days as a text names it, before it is known when the text was written.
indirect enum DayExpression: Equatable {
  /// Counted from the message's day.
  case offset(Int)
  /// A weekday; the selector is nil when none is said.
  case weekday(Int, PeriodSelector?)
  /// A weekday of the week that is this many weeks later than the message's.
  case weekdayOfWeek(Int, weeks: Int)
  /// A day of a named month.
  case date(month: Int, day: Int, year: Int?)
  /// A day of the month that is this many months later than the message's; nil when no month is said.
  case dayOfMonth(Int, months: Int?)
  /// A week, weekend, month or year, counted from the message's.
  case period(CalendarUnit, offset: Int)
  /// The last days of one.
  case endOfPeriod(CalendarUnit, offset: Int)
  /// A named month, or its last days.
  case month(Int, year: Int?, isEnd: Bool)
  /// Days after another day.
  case later(days: Int, than: DayExpression)
  /// From the first day of one to the last of the other.
  case range(DayExpression, DayExpression)
  /// Minutes after the message, or before it if negative.
  case elapsed(minutes: Int)
}

extension DayExpression {
  /// Whether the words alone say that it lies ahead, so that a verb in the past tells of something else.
  var isAhead: Bool {
    switch self {
    case .offset(let offset), .period(_, let offset), .endOfPeriod(_, let offset): offset > 0
    case .weekday(_, let selector): selector == .next || selector == .coming
    case .weekdayOfWeek(_, let weeks): weeks > 0
    case .dayOfMonth(_, let months): (months ?? 0) > 0
    case .elapsed(let minutes): minutes > 0
    case .later: true
    case .range(let first, let last): first.isAhead || last.isAhead
    case .date, .month: false
    }
  }
}
