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
