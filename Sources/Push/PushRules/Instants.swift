internal import FoundationEssentials

/// Instants and dates as callers write them in JSON.
package enum InstantText {
  /// Reads an instant of the years 2000 to 2999 with capital letters and without leap seconds; nil for anything else.
  package static func microseconds(of text: String) -> Int64? {
    let form =
      /2[0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])/
    guard text.wholeMatch(of: form) != nil, isDate(String(text.prefix(10))) else { return nil }
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return (try? style.parse(text)).map { Int64(($0.timeIntervalSince1970 * 1_000_000).rounded()) }
  }

  /// Whether a text is a date of the years 2000 to 2999, such as `2026-11-22`.
  package static func isDate(_ text: String) -> Bool {
    guard text.wholeMatch(of: /2[0-9]{3}-[0-9]{2}-[0-9]{2}/) != nil else { return false }
    let style = Date.ISO8601FormatStyle().year().month().day()
    // Parsing takes 30 February for 2 March.
    return (try? style.parse(text))?.formatted(style) == text
  }
}

/// The wait that an answer asks for with `Retry-After` (RFC 9110 section 10.2.3).
package enum RetryAfter {
  /// Reads the field, or a service's own of the same form.
  ///
  /// A date counts from the answer's own, so that no two clocks are compared.
  /// - Parameters:
  ///   - text: seconds in digits, or a date as IMF-fixdate; nil and any other text give nil.
  ///   - date: the answer's `Date`.
  ///   - longest: a longer wait is this one.
  ///   - now: Unix seconds by this machine, in place of a missing `Date`; nil then ignores a date in `text`.
  ///   - passed: what a date asks for that has passed.
  package static func wait(
    _ text: String?, date: String?, atMost longest: Duration, now: Int64? = nil, passed: Duration? = .zero
  ) -> Duration? {
    guard let text, !text.isEmpty else { return nil }
    if text.utf8.allSatisfy(\.isDigit) { return min(Int64(text).map { .seconds($0) } ?? longest, longest) }
    guard let end = unixSeconds(text), let start = date.flatMap(unixSeconds) ?? now else { return nil }
    return end > start ? min(.seconds(end - start), longest) : passed
  }

  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The moment of `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7), in the years 1970 to 9999; nil for any other text and
  /// for a day that does not exist. The day of the week is not compared.
  package static func unixSeconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard text.utf8.count == 29, parts.count == 6, parts[5] == "GMT",
      let month = months.firstIndex(of: String(parts[2])).map({ Int64($0 + 1) }),
      let day = number(parts[1], 2, in: 1...31), let year = number(parts[3], 4, in: 1970...9999)
    else { return nil }
    let time = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard time.count == 3, let hour = number(time[0], 2, in: 0...23), let minute = number(time[1], 2, in: 0...59),
      let second = number(time[2], 2, in: 0...60), day <= lengthOfMonth(year, month)
    else { return nil }
    return days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
  }

  private static func number(_ text: Substring, _ digits: Int, in range: ClosedRange<Int64>) -> Int64? {
    guard text.utf8.count == digits, text.utf8.allSatisfy(\.isDigit), let number = Int64(text), range.contains(number)
    else { return nil }
    return number
  }

  /// - Parameter month: from 1.
  private static func lengthOfMonth(_ year: Int64, _ month: Int64) -> Int64 {
    let next: (year: Int64, month: Int64) = month == 12 ? (year + 1, 1) : (year, month + 1)
    return days(next.year, next.month, 1) - days(year, month, 1)
  }

  /// Days since 1970. Counts years from March, so that a leap day ends a year, in eras of 400 years. Source: Howard Hinnant,
  /// "chrono-compatible low-level date algorithms", `days_from_civil`.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let yearOfEra = shifted % 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return shifted / 400 * 146_097 + dayOfEra - 719_468
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}

extension Duration {
  /// Whole microseconds, rounded towards zero, as the database's `bigint` holds them.
  package var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000_000
  }
}
