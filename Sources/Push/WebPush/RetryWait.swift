/// The wait that an answer asks for.
enum RetryWait {
  /// The longest wait that counts: an hour. A longer one would outlive most pushes, and a broken proxy may ask for years.
  static let longest = Duration.seconds(3600)

  /// Reads `Retry-After` (RFC 9110 section 10.2.3) or a service's field of seconds.
  /// - Parameters:
  ///   - text: seconds in digits, or a date as IMF-fixdate; nil and any other text give nil.
  ///   - date: the answer's `Date`, from which a date in `text` counts, so that no two clocks are compared.
  ///   - now: Unix seconds by this machine, in place of a missing `Date`.
  static func wait(_ text: String?, date: String?, now: Int64) -> Duration? {
    guard let text, !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return min(Int64(text).map { .seconds($0) } ?? longest, longest)
    }
    guard let end = unixSeconds(text) else { return nil }
    return max(.zero, min(.seconds(end - (date.flatMap(unixSeconds) ?? now)), longest))
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The moment of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7); nil for any other text. The day of the week is not
  /// compared, and a 31 February is 3 March.
  static func unixSeconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard text.utf8.count == 29, parts.count == 6, parts[5] == "GMT",
      let month = months.firstIndex(of: String(parts[2])),
      let day = number(parts[1], 2, in: 1...31), let year = number(parts[3], 4, in: 1970...9999)
    else { return nil }
    let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard time.count == 3, let hour = number(time[0], 2, in: 0...23), let minute = number(time[1], 2, in: 0...59),
      let second = number(time[2], 2, in: 0...60)
    else { return nil }
    return days(year: year, month: Int64(month + 1), day: day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func number(_ text: Substring, _ digits: Int, in range: ClosedRange<Int64>) -> Int64? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text),
      range.contains(number)
    else { return nil }
    return number
  }

  /// Days since 1970. Counts years from March, so that a leap day ends a year, in eras of 400 years. Source: Howard Hinnant,
  /// "chrono-compatible low-level date algorithms", `days_from_civil`.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return shifted / 400 * 146_097 + dayOfEra - 719_468
  }
}
