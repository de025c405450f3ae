internal import Foundation

/// Civil time in one zone.
struct ZoneClock {
  let zone: TimeZone

  /// More than the largest offset in the time zone database: Manila's 15 h 56 min until 1844.
  private static let offsetSecondsMax = 16.0 * 3600

  /// The instant of a local time. Minutes beyond the day continue into the next.
  ///
  /// RFC 5545, 3.3.5: a time in a gap uses the offset before the change; of an ambiguous time the first instant counts.
  func instant(_ day: CivilDay, minutes: Int = 0) -> Date {
    let local = Double(day.number) * 86_400 + Double(minutes) * 60
    let before = offset(at: local - Self.offsetSecondsMax)
    if offset(at: local - before) == before { return Date(timeIntervalSince1970: local - before) }
    let after = offset(at: local + Self.offsetSecondsMax)
    if offset(at: local - after) == after { return Date(timeIntervalSince1970: local - after) }
    return Date(timeIntervalSince1970: local - before)
  }

  /// The local time of an instant, in whole minutes.
  func civilTime(at instant: Date) -> (day: CivilDay, minutes: Int) {
    let utc = instant.timeIntervalSince1970
    let minutes = Int(((utc + offset(at: utc)) / 60).rounded(.down))
    return (CivilDay(number: minutes.quotient(1440)), minutes.modulo(1440))
  }

  /// Seconds east of UTC.
  private func offset(at seconds: Double) -> Double {
    Double(zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds)))
  }
}

/// A day of the proleptic Gregorian calendar, without a zone.
struct CivilDay: Comparable, Hashable {
  /// Days since 1970-01-01, which is 0.
  let number: Int

  init(number: Int) {
    self.number = number
  }

  /// The day of a date; nil when the month has no such day.
  init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, year: year) else { return nil }
    number = Self.number(year: year, month: month) + day - 1
  }

  static func < (left: Self, right: Self) -> Bool { left.number < right.number }
  static func + (day: Self, days: Int) -> Self { Self(number: day.number + days) }

  /// 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday.
  var weekday: Int { (number + 3).modulo(7) + 1 }

  /// The Monday that begins its week.
  var monday: Self { self + (1 - weekday) }

  var year: Int { date.year }
  var month: Int { date.month }

  /// The first day of the month that is this many months later.
  func firstOfMonth(later months: Int) -> Self {
    let date = date
    let total = date.year * 12 + date.month - 1 + months
    return Self(number: Self.number(year: total.quotient(12), month: total.modulo(12) + 1))
  }

  /// The number of days of a month, 1 to 12.
  private static func length(ofMonth month: Int, year: Int) -> Int {
    let next = month == 12 ? number(year: year + 1, month: 1) : number(year: year, month: month + 1)
    return next - number(year: year, month: month)
  }

  /// Days from 1970-01-01 to the first of a month. Years begin in March, so that the leap day is the last. Source:
  /// Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
  private static func number(year: Int, month: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year.quotient(400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The inverse, `civil_from_days`.
  private var date: (year: Int, month: Int) {
    let shifted = number + 719_468
    let era = shifted.quotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = ((5 * dayOfYear + 2) / 153 + 2) % 12 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month)
  }
}

extension Int {
  /// Division that rounds down.
  func quotient(_ divisor: Int) -> Int { (self - modulo(divisor)) / divisor }

  /// The remainder, never negative.
  func modulo(_ divisor: Int) -> Int { (self % divisor + divisor) % divisor }
}
