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
