/// A day of the proleptic Gregorian calendar, without a zone.
package struct CivilDay: Comparable, Hashable, Sendable {
  /// Days since 1970-01-01, which is 0.
  package let number: Int

  package init(number: Int) { self.number = number }

  /// The day of a date; nil when the month has no such day.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, year: year) else { return nil }
    number = Self.number(year: year, month: month) + day - 1
  }

  package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
  package static func + (day: Self, days: Int) -> Self { Self(number: day.number + days) }

  /// 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday.
  package var weekday: Int { (number + 3).modulo(7) + 1 }

  /// In English.
  package var weekdayName: String {
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][weekday - 1]
  }

  package var monday: Self { self + (1 - weekday) }

  package var year: Int { date.year }
  package var month: Int { date.month }

  /// The first day of the month that is this many months later.
  package func firstOfMonth(later months: Int) -> Self {
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
  static func number(year: Int, month: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year.quotient(400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The inverse, `civil_from_days`.
  package var date: (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = shifted.quotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = (marchMonth + 2) % 12 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }

  /// The day of the year in 2026, counted on through every New Year in both directions: 2026-01-01 is 1, 2025-12-31 is
  /// 0 and 2027-01-01 is 366.
  package var dayNumber: Int { number - Self.daysBefore2026 }

  /// Days from 1970-01-01 to 2025-12-31, the day before day 1.
  private static let daysBefore2026 = 20_453
  /// Reads `YYYY-MM-DD`: ASCII digits of exactly this width. Nil for any other text, for a day that the month does not
  /// have, and for the year 0.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [4, 2, 2], let year = DecimalDigits.number(parts[0]), year >= 1,
      let month = DecimalDigits.number(parts[1]), let day = DecimalDigits.number(parts[2])
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  /// The day as `YYYY-MM-DD`.
  package var description: String {
    let date = date
    return DecimalDigits.text(date.year, width: 4) + "-" + DecimalDigits.text(date.month, width: 2) + "-"
      + DecimalDigits.text(date.day, width: 2)
  }
}

extension Int {
  /// Division that rounds down.
  package func quotient(_ divisor: Int) -> Int { (self - modulo(divisor)) / divisor }

  /// The remainder, never negative.
  package func modulo(_ divisor: Int) -> Int { (self % divisor + divisor) % divisor }
}

/// Numbers of a fixed width, without a locale.
package enum DecimalDigits {
  /// The number of ASCII digits; nil with any other byte. For at most 18 digits.
  package static func number(_ bytes: some Sequence<UInt8>) -> Int? {
    var number = 0
    for byte in bytes {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  /// A number from 0, with leading zeros.
  package static func text(_ number: Int, width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
