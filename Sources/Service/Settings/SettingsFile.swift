/// The text of a settings file, taken apart.
///
/// One `KEY=value` a line; blank lines and lines that begin with `#` say nothing. White space around key and value is
/// dropped; a value in single or double quotes is the text between them. A `#` inside a value belongs to it. Nothing
/// is expanded, and no value spans lines.
///
/// `[app com.example.app]` begins the settings of one app; they end with the next such line or the file.
struct SettingsFile {
  /// Where the settings of a line go.
  private enum Place {
    case top
    case app(Int)
    /// Behind a line that failed to be a section: ignored.
    case nowhere
  }

  /// The settings above the first section.
  private(set) var values: [String: String] = [:]
  /// In the order of the file, each app once.
  private(set) var apps: [AppSection] = []
  private(set) var problems: [SettingsProblem] = []
  private var place = Place.top

  init(text: String) {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      read(line: line.trimmed, number: index + 1)
    }
  }

  private mutating func read(line: Substring, number: Int) {
    if line.isEmpty || line.hasPrefix("#") { return }
    if line.hasPrefix("[") { return beginSection(line, number: number) }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    // A line that is no setting may be part of a pasted key: its text is not repeated.
    guard parts.count == 2, let key = Self.key(parts[0].trimmed), let value = Self.value(parts[1].trimmed) else {
      let message = "names a file whose line \(number) is no setting; expected KEY=value, quotes closed, or a # comment"
      problems.append(SettingsProblem(.malformed, SettingNames.configFile, message))
      return
    }
    store(value, under: key, number: number)
  }

  private mutating func beginSection(_ line: Substring, number: Int) {
    place = .nowhere
    do {
      let section = try AppSection(header: line)
      if apps.contains(where: { $0.bundleIdentifier == section.bundleIdentifier }) {
        let message = "(settings file, line \(number)) is there a second time; keep one"
        return problems.append(SettingsProblem(.conflicting, section.header, message))
      }
      apps.append(section)
      place = .app(apps.count - 1)
    } catch {
      let message = "names a file whose line \(number) is \(error.fault); expected \(error.expectation)"
      problems.append(SettingsProblem(.malformed, SettingNames.configFile, message))
    }
  }

  private mutating func store(_ value: String, under name: String, number: Int) {
    let problem: SettingsProblem?
    switch place {
    case .top:
      problem = Self.store(value, under: name, number: number, in: &values, known: SettingNames.all)
    case .app(let index):
      problem = Self.store(value, under: name, number: number, in: &apps[index].values, known: SettingNames.ofApps)
    case .nowhere:
      problem = nil
    }
    if let problem { problems.append(problem) }
  }

  private static func store(
    _ value: String, under name: String, number: Int, in values: inout [String: String], known: [String]
  ) -> SettingsProblem? {
    let line = "settings file, line \(number)"
    guard SettingNames.all.contains(name) else { return .unknown(name, at: line, among: known) }
    let fault = misplacement(of: name, known: known) ?? (values[name] == nil ? nil : "is set a second time; keep one")
    if let fault { return SettingsProblem(.conflicting, name, "(\(line)) \(fault)") }
    values[name] = value
    return nil
  }

  /// Why a known key is in the wrong place.
  private static func misplacement(of name: String, known: [String]) -> String? {
    switch name {
    case SettingNames.configFile: "cannot be set in the file; it belongs into the environment"
    case _ where known.contains(name): nil
    case DefaultAppTable().bundleID.name: "is what the section's name says; leave it out"
    default: "is no setting of an app; it belongs above the first section"
    }
  }

  /// A name made of letters, digits and underscores, short enough to be typed.
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
