internal import HTTPTypes

/// The wait that an answer asks for with `Retry-After` (RFC 9110 section 10.2.3).
enum RetryAfter {
  /// The longest wait that counts. Google says to give up after 60 minutes ("Scale FCM").
  static let longest = Duration.seconds(3600)

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The wait of an answer's fields, at most ``longest``.
  ///
  /// A date counts from the answer's own `Date`, so that no two clocks are compared.
  /// - Returns: nil without the field, for a malformed one, and for a date that has passed.
  static func wait(_ fields: HTTPFields) -> Duration? {
    guard let text = fields[.retryAfter], !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(text).map { .seconds($0) } ?? longest, longest)
    }
    guard let end = unixSeconds(text), let now = fields[.date].flatMap(unixSeconds), end > now else { return nil }
    return min(.seconds(end - now), longest)
  }

  /// Reads an IMF-fixdate (RFC 9110 section 5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`, in the years 1970 to 9999.
  static func unixSeconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])),
      let day = number(parts[1], 1...31), let year = number(parts[3], 1970...9999)
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
      let second = number(clock[2], 0...60)
    else { return nil }
    return days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Days since 1970. Counts years from March, so that a leap day ends a year. Source: Howard Hinnant,
  /// "chrono-compatible low-level date algorithms", `days_from_civil`.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let yearOfEra = year % 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return year / 400 * 146_097 + dayOfEra - 719_468
  }
}
