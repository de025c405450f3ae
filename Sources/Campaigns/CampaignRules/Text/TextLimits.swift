/// How much of each short value is taken over, in Unicode scalars. Names longer than these are no names; what is cut keeps
/// a log row and a prompt small whatever a table holds.
enum TextLimits {
  static let eventMax = 40
  static let domainMax = 40
  static let themeMax = 80
  static let templateValueMax = 80
  /// The most domains of one pattern that are logged.
  static let domainsMax = 8

  /// An event's word on one line; nil when nothing of it is visible.
  static func event(_ text: String) -> String? { line(text, max: eventMax) }
  /// A domain on one line; nil when nothing of it is visible.
  static func domain(_ text: String) -> String? { line(text, max: domainMax) }
  /// A theme on one line; nil when nothing of it is visible.
  static func theme(_ text: String) -> String? { line(text, max: themeMax) }

  /// Any other text on one line; nil when nothing of it is visible.
  static func line(_ text: String, max: Int) -> String? {
    let line = DataLine(text, scalarsMax: max).text
    return line.isEmpty ? nil : line
  }
}
