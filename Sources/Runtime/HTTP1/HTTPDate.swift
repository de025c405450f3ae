/// The Date field of a second: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
///
/// Stored as the whole field line, which each response copies. Make one a second, not one a response.
package struct HTTPDate: Sendable, Equatable {
  package let unixSeconds: Int
  /// `Date: …` with its line end.
  let fieldLine: [UInt8]

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter unixSeconds: in the years 1970 to 9999.
  package init(unixSeconds: Int) {
    self.unixSeconds = unixSeconds
    fieldLine = Array("Date: \(Self.text(unixSeconds))\r\n".utf8)
  }

  private static func text(_ unixSeconds: Int) -> String {
    let (days, second) = unixSeconds.quotientAndRemainder(dividingBy: 86400)
    let date = civilDate(days)
    let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
    return "\(Self.days[days % 7]), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Counts years from March, so that a leap day ends a year, in eras of 400 years. Source: Howard Hinnant,
  /// "chrono-compatible low-level date algorithms", `civil_from_days`.
  private static func civilDate(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}
