internal import Explanations
internal import FoundationEssentials

/// An instant as RFC 3339 writes it.
struct Timestamp: Equatable {
  /// Since 1970.
  let microseconds: Int64

  init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Reads a time of the years 2000 to 2999 with capital letters and without leap seconds; nil for anything else.
  init?(_ text: String) {
    guard text.wholeMatch(of: Self.form) != nil else { return nil }
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    guard let date = try? style.parse(text), CivilDate.isOne(String(text.prefix(10))) else { return nil }
    microseconds = Int64((date.timeIntervalSince1970 * 1_000_000).rounded())
  }

  private static var form: Regex<Substring> {
    /2[0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])/
  }

  /// In UTC with milliseconds. Whole seconds are formatted and the rest is put behind them, because a date counts in
  /// binary fractions and would print many a millisecond as the one before.
  var text: String {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let date = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
    let milliseconds = String(1000 + rest / 1000).dropFirst()
    return "\(date.dropLast()).\(milliseconds)Z"
  }
}
