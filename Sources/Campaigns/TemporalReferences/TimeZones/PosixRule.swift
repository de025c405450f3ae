/// A zone's rule for ever: one offset, or two that change on the same days of every year.
///
/// This is what a POSIX `TZ` string means, with the extensions of RFC 9636 section 3.3.1. Daylight saving time may have the
/// smaller offset, may go on over New Year, or all year.
struct PosixRule: Equatable, Sendable {
  /// Seconds east of UTC.
  var standardOffset: Int

  var daylight: DaylightTime?

  /// The seconds of 400 years. They are whole weeks, so the calendar repeats after them, and with it this rule.
  private static let cycle: Int64 = 146_097 * 86_400

  /// Seconds east of UTC.
  func offset(at seconds: Int64) -> Int {
    guard let daylight, daylight.covers(Self.moment(of: seconds)) else { return standardOffset }
    return daylight.offset
  }

  /// The next change; nil without one, or when its time is beyond `Int64`.
  func nextChange(after seconds: Int64) -> ZoneChange? {
    guard let daylight, daylight.offset != standardOffset else { return nil }
    let moment = Self.moment(of: seconds)
    guard let change = daylight.edge(after: moment) else { return nil }
    let (at, isBeyond) = seconds.addingReportingOverflow(Int64(change - moment))
    return isBeyond ? nil : ZoneChange(at: at, offset: offset(at: at))
  }

  /// The moment in 1970 to 2369 at which the rule says the same. Later arithmetic cannot overflow.
  private static func moment(of seconds: Int64) -> Int {
    let rest = seconds % cycle
    return Int(rest < 0 ? rest + cycle : rest)
  }
}

extension PosixRule {
  /// Reads a `TZ` string, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
  ///
  /// Nil for any other text. A rule with daylight saving time must say when it is: the default of a missing one differs
  /// between systems. Source: POSIX, Base Definitions, section 8.3; RFC 9636 section 3.3.1 for times of -167 to 167 hours.
  init?(_ text: some Sequence<UInt8>) {
    var reader = PosixRuleReader(text)
    guard reader.skipDesignation(), let standard = reader.offset() else { return nil }
    standardOffset = standard
    if reader.isAtEnd { return }
    guard let daylight = reader.daylight(standardOffset: standard), reader.isAtEnd else { return nil }
    self.daylight = daylight
  }
}

/// The parts of a `TZ` string in their order. Each method returns nil for text that is something else.
private struct PosixRuleReader {
  /// Leading zeros are allowed, but no number needs more.
  private static let digitsMax = 3
  /// Source: POSIX, Base Definitions, section 8.3.
  private static let designationBytesMin = 3

  private var rest: ArraySlice<UInt8>

  init(_ text: some Sequence<UInt8>) {
    rest = Array(text)[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Letters, or letters, digits, `+` and `-` in angle brackets.
  mutating func skipDesignation() -> Bool {
    let isQuoted = take("<")
    let name = rest.prefix { $0.isLetter || (isQuoted && $0.isOfQuotedName) }
    rest = rest.dropFirst(name.count)
    return name.count >= Self.designationBytesMin && (!isQuoted || take(">"))
  }

  /// Seconds east of UTC. The text counts hours west of it, to 24.
  mutating func offset() -> Int? { time(hoursMax: 24).map { -$0 } }

  /// Designation, offset if it is not one hour more, start and end. The start is told by the clock of standard time, and
  /// the end by that of daylight saving time.
  mutating func daylight(standardOffset: Int) -> DaylightTime? {
    guard skipDesignation() else { return nil }
    var offset: Int? = standardOffset + 3600
    if rest.first != UInt8(ascii: ",") { offset = self.offset() }
    guard let offset, let start = moment(standardOffset), let end = moment(offset) else { return nil }
    return DaylightTime(offset: offset, start: start, end: end)
  }

  /// `,` and a day, and `/` with a time if it is not 02:00.
  /// - Parameter offset: of the clock that tells it.
  private mutating func moment(_ offset: Int) -> YearMoment? {
    guard take(","), let day = day() else { return nil }
    guard let time = take("/") ? time(hoursMax: 167) : 7200 else { return nil }
    return YearMoment(day: day, secondsOfDay: time - offset)
  }

  private mutating func day() -> YearMoment.Day? {
    if take("J") { return number(1...365).map { .julian($0) } }
    guard take("M") else { return number(0...365).map { .zeroBased($0) } }
    guard let month = number(1...12), take("."), let week = number(1...5), take("."), let day = number(0...6) else {
      return nil
    }
    return .weekday(month: month, week: week, day: day)
  }

  /// `[+-]hh[:mm[:ss]]` in seconds.
  private mutating func time(hoursMax: Int) -> Int? {
    let sign = take("-") ? -1 : 1
    if sign == 1 { _ = take("+") }
    guard var seconds = number(0...hoursMax).map({ $0 * 3600 }) else { return nil }
    for unit in [60, 1] {
      guard take(":") else { break }
      guard let part = number(0...59) else { return nil }
      seconds += part * unit
    }
    return sign * seconds
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int? {
    let digits = rest.prefix { $0.isDigit }
    guard (1...Self.digitsMax).contains(digits.count) else { return nil }
    rest = rest.dropFirst(digits.count)
    let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return range.contains(number) ? number : nil
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }
}

extension UInt8 {
  fileprivate var isOfQuotedName: Bool { isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") }
}

/// The daylight saving time of a rule: its offset and its part of every year.
///
/// Moments are Unix time in `Int`, from 1970 on.
struct DaylightTime: Equatable, Sendable {
  /// Seconds east of UTC.
  var offset: Int

  var start: YearMoment

  /// When it ends. Before the start of the same year in the southern hemisphere.
  var end: YearMoment

  /// The length of the Gregorian calendar's cycle. What does not happen in 400 years never does.
  private static let cycleYears = 400

  /// Whether it is in force. It is not when it ends at the moment it begins.
  func covers(_ moment: Int) -> Bool {
    // A period begins at most nine days before its year, and ends at most nine days after the next one.
    let year = Self.year(around: moment)
    return (year - 2...year + 1).contains { first in
      let (start, end) = edges(of: first)
      return start <= moment && moment < (start <= end ? end : edges(of: first + 1).end)
    }
  }

  /// The next moment after another one at which it begins or ends; nil if there is none, as when it goes on all year.
  func edge(after moment: Int) -> Int? {
    let isInForce = covers(moment)
    let first = Self.year(around: moment) - 1
    for year in first...first + Self.cycleYears + 2 {
      // Edges of two years are out of order only where a period is empty or meets the next one, so none of them counts.
      if let edge = edge(of: year, after: moment, ending: isInForce) { return edge }
    }
    return nil
  }

  /// The first edge of a year that comes after a moment and changes what is in force.
  private func edge(of year: Int, after moment: Int, ending isInForce: Bool) -> Int? {
    let (start, end) = edges(of: year)
    func isChange(_ edge: Int) -> Bool { edge > moment && covers(edge) != isInForce }
    if isChange(min(start, end)) { return min(start, end) }
    return isChange(max(start, end)) ? max(start, end) : nil
  }

  private func edges(of year: Int) -> (start: Int, end: Int) {
    (start.seconds(in: year), end.seconds(in: year))
  }

  /// The year of a moment, or within two days of New Year one beside it, by the mean length of a year. It is exact
  /// enough where years around it are looked at.
  private static func year(around moment: Int) -> Int { 1970 + moment / 86_400 * cycleYears / 146_097 }
}

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

  /// Unix time, in a year of the proleptic Gregorian calendar.
  func seconds(in year: Int) -> Int { dayNumber(in: year) * 86_400 + secondsOfDay }

  /// Days from 1970-01-01.
  private func dayNumber(in year: Int) -> Int {
    let newYear = CivilDay.number(year: year, month: 1)
    switch day {
    case .julian(let day):
      let hasLeapDay = CivilDay.number(year: year, month: 3) - newYear == 60
      return newYear + day - (hasLeapDay && day >= 60 ? 0 : 1)
    case .zeroBased(let day): return newYear + day
    case .weekday(let month, let week, let weekday):
      let first = CivilDay(number: CivilDay.number(year: year, month: month))
      let day = first + ((weekday - first.weekday).modulo(7) + (week - 1) * 7)
      return day < first.firstOfMonth(later: 1) ? day.number : day.number - 7
    }
  }
}
