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
