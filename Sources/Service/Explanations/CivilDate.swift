internal import FoundationEssentials

/// Dates as operators write them.
public enum CivilDate {
  /// Whether a text is a date of the years 2000 to 2999, such as `2026-11-22`.
  public static func isOne(_ text: String) -> Bool {
    guard text.wholeMatch(of: /2[0-9]{3}-[0-9]{2}-[0-9]{2}/) != nil else { return false }
    let style = Date.ISO8601FormatStyle().year().month().day()
    // Parsing takes 30 February for 2 March.
    return (try? style.parse(text))?.formatted(style) == text
  }
}
