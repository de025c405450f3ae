/// Everything that one place of a text says about a time.
struct TemporalPhrase: Equatable {
  var day: DayExpression?
  var clock: ClockExpression?
  var part: DayPart?
  var lexemes: Range<Int>

  var isEmpty: Bool { day == nil && clock == nil && part == nil }
}

/// A day or stretch of days as a text names it, not yet resolved against the time of writing.
indirect enum DayExpression: Equatable {
  /// Counted from the message's day.
  case offset(Int)
  case weekday(Int, PeriodSelector?)
  /// A weekday of the week that is this many weeks later than the message's.
  case weekdayOfWeek(Int, weeks: Int)
  case date(month: Int, day: Int, year: Int?)
  /// A day of the month that is this many months later than the message's; nil without a month.
  case dayOfMonth(Int, months: Int?)
  /// A weekday with the date that it has.
  case named(Int, DayExpression)
  /// A weekday of a month by its number; -1 is the last.
  case nthWeekday(Int, weekday: Int, month: DayExpression)
  case holiday(Holiday)
  /// A week, weekend, month or year, counted from the message's.
  case period(CalendarUnit, offset: Int)
  case endOfPeriod(CalendarUnit, offset: Int)
  case month(Int, year: Int?, isEnd: Bool)
  case later(days: Int, than: DayExpression)
  /// About as many weeks, months or years after the message.
  case about(CalendarUnit, count: Int)
  /// From the first day of one to the last of the other.
  case range(DayExpression, DayExpression)
  /// Minutes after the message, or before it if negative.
  case elapsed(minutes: Int)
}

extension DayExpression {
  /// Whether the words alone place it in the future, so that a verb in the past belongs to something else.
  var isAhead: Bool {
    switch self {
    case .offset(let offset), .period(_, let offset), .endOfPeriod(_, let offset), .about(_, let offset): offset > 0
    case .weekday(_, let selector): selector == .next || selector == .coming
    case .weekdayOfWeek(_, let weeks): weeks > 0
    case .dayOfMonth(_, let months): (months ?? 0) > 0
    case .elapsed(let minutes): minutes > 0
    case .later: true
    case .range(let first, let last): first.isAhead || last.isAhead
    case .nthWeekday(_, _, let month): month.isAhead
    case .named(_, let day): day.isAhead
    case .date, .month, .holiday: false
    }
  }
}

/// A time of day, or a stretch from one to another.
struct ClockExpression: Equatable {
  let start: ClockReading
  let end: ClockReading?
}

/// A time of day as written.
struct ClockReading: Equatable {
  /// From midnight, `0 ... 1,440`; in the first half of the day when ``isAmbiguous``.
  let minutes: Int
  /// Whether it could be in either half of the day.
  let isAmbiguous: Bool

  /// A time whose half of the day is known or does not matter.
  init(minutes: Int) {
    self.minutes = minutes
    isAmbiguous = false
  }

  /// An hour as written; nil when no clock shows it.
  ///
  /// With a half of the day the hour is 1 to 12. Without one, 1 to 12 are ambiguous unless a leading zero indicates the
  /// twenty-four-hour clock.
  init?(hour: Int, minute: Int, meridiem: Meridiem?, hasLeadingZero: Bool = false) {
    guard (0...59).contains(minute) else { return nil }
    if let meridiem {
      guard (1...12).contains(hour) else { return nil }
      minutes = hour % 12 * 60 + minute + (meridiem == .postMeridiem ? 720 : 0)
      isAmbiguous = false
    } else {
      guard hour * 60 + minute <= 1440 else { return nil }
      isAmbiguous = (1...12).contains(hour) && !hasLeadingZero
      minutes = (isAmbiguous ? hour % 12 : hour) * 60 + minute
    }
  }
}
