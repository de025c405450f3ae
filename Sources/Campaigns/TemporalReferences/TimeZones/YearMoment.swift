/// A moment of every year, as a POSIX `TZ` string names it.
struct YearMoment: Equatable, Sendable {
  /// The forms of a day. Source: POSIX, Base Definitions, section 8.3.
  enum Day: Equatable, Sendable {
    /// `Jn`: 1 to 365. February 29 is never counted: 60 is March 1 in every year.
    case julian(Int)
    /// `n`: 0 to 365. February 29 is counted, and 365 is the next New Year's Day in years without it.
    case zeroBased(Int)
    /// `Mm.w.d`: week 1 to 5 of a month, 5 for the last; a weekday from 0 for Sunday.
    case weekday(month: Int, week: Int, day: Int)
  }

  var day: Day

  /// From the day's midnight in UTC: up to a week before or after it by the zone's clock, and up to 26 hours for its
  /// offset.
  var secondsOfDay: Int

  /// Unix time.
  func seconds(in year: CalendarYear) -> Int { year.number(of: day) * 86_400 + secondsOfDay }
}

/// A year of the proleptic Gregorian calendar, 1 or later.
struct CalendarYear {
  private let isLeap: Bool
  /// Days from 1970-01-01 to its January 1.
  private let firstDay: Int

  /// Days before each month in a year without a leap day, and before the year's end.
  private static let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

  init(_ year: Int) {
    let past = year - 1
    isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    firstDay = past * 365 + past / 4 - past / 100 + past / 400 - 719_162
  }

  /// Days from 1970-01-01.
  func number(of day: YearMoment.Day) -> Int {
    switch day {
    case .julian(let day): firstDay + day - (isLeap && day >= 60 ? 0 : 1)
    case .zeroBased(let day): firstDay + day
    case .weekday(let month, let week, let weekday): number(ofWeekday: weekday, week: week, month: month)
    }
  }

  private func number(ofWeekday weekday: Int, week: Int, month: Int) -> Int {
    let first = firstDay(ofMonth: month)
    // 1970-01-01 was a Thursday, which is 4.
    let difference = (weekday - first - 4) % 7
    let day = first + (difference < 0 ? difference + 7 : difference) + (week - 1) * 7
    return day < firstDay(ofMonth: month + 1) ? day : day - 7
  }

  /// - Parameter month: 1 to 13, which is the next January.
  private func firstDay(ofMonth month: Int) -> Int {
    firstDay + Self.daysBefore[month - 1] + (isLeap && month > 2 ? 1 : 0)
  }
}
