/// The text of a settings file, taken apart.
///
/// One `KEY=value` a line; blank lines and lines that begin with `#` say nothing. White space around key and value is
/// dropped; a value in single or double quotes is what stands between them. A `#` inside a value belongs to it. Nothing
/// is expanded, and no value spans lines.
struct SettingsFile {
  private(set) var values: [String: String] = [:]
  private(set) var problems: [SettingsProblem] = []

  init(text: String) {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      read(line: line.trimmed, number: index + 1)
    }
  }

  private mutating func read(line: Substring, number: Int) {
    if line.isEmpty || line.hasPrefix("#") { return }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    // A line that is no setting may be part of a key that somebody pasted: its text is not repeated.
    guard parts.count == 2, let key = Self.key(parts[0].trimmed), let value = Self.value(parts[1].trimmed) else {
      let message = "names a file whose line \(number) is no setting; expected KEY=value, quotes closed, or a # comment"
      problems.append(SettingsProblem(.malformed, .configFile, message))
      return
    }
    store(value, under: key, number: number)
  }

  private mutating func store(_ value: String, under key: String, number: Int) {
    switch SettingKey(rawValue: key) {
    case nil:
      problems.append(.unknown(key, at: "settings file, line \(number)"))
    case .configFile:
      let message = "(settings file, line \(number)) cannot be set in the file; it belongs into the environment"
      problems.append(SettingsProblem(.conflicting, .configFile, message))
    case _ where values[key] != nil:
      let message = "(settings file, line \(number)) is set a second time; keep one"
      problems.append(SettingsProblem(code: .conflicting, key: key, message: message))
    default:
      values[key] = value
    }
  }

  /// A name made of letters, digits and underscores, short enough to be one that somebody typed.
  private static func key(_ text: Substring) -> String? {
    let isName = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isName && (1...64).contains(text.utf8.count) ? String(text) : nil
  }

  /// A value without its quotes; nil when a quote is not closed or something follows it.
  private static func value(_ text: Substring) -> String? {
    guard let quote = text.first, quote == "\"" || quote == "'" else { return String(text) }
    let inner = text.dropFirst()
    guard inner.last == quote, !inner.dropLast().contains(quote) else { return nil }
    return String(inner.dropLast())
  }
}
