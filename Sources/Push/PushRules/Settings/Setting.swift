/// The name of a setting, in the environment and in the settings file.
package struct SettingName: Equatable, Sendable, ExpressibleByStringLiteral {
  package let text: String
  /// The value must never be shown: it is a secret, or may hold one, as a URL holds a password and as a key is pasted where
  /// its file should be named.
  package var isSecret = false

  package init(stringLiteral text: String) { self.text = text }

  package static func secret(_ name: SettingName) -> SettingName {
    var name = name
    name.isSecret = true
    return name
  }
}

/// Settings that are read together. The members have the defaults; the table has the names, and how each is read.
package protocol SettingsGroup: Equatable, Sendable {
  /// The defaults; in the place of what is required, a value that nobody sees, because its absence is a problem.
  init()

  static var table: [Setting<Self>] { get }
}

extension SettingsGroup {
  package static var names: [SettingName] { table.map(\.name) }

  /// Reads every setting of the table. The values are whole unless the reader has recorded a problem.
  package init(_ reader: inout SettingsReader) {
    self.init()
    for setting in Self.table { setting.read(&self, &reader) }
  }

  /// Names of settings that say something else than before.
  package func changes(since old: Self) -> [String] {
    Self.table.filter { $0.differs(self, old) }.map(\.name.text)
  }
}

/// A row of a group's table: a setting's name, its member, and the parser that knows its bounds and their words.
package struct Setting<Group: Sendable>: Sendable {
  package let name: SettingName
  fileprivate let read: @Sendable (inout Group, inout SettingsReader) -> Void
  fileprivate let differs: @Sendable (Group, Group) -> Bool

  package init<Value: Equatable & Sendable>(
    _ name: SettingName, _ member: any WritableKeyPath<Group, Value> & Sendable, _ parser: SettingParser<Value>,
    isRequired: Bool = false
  ) {
    self.init(name, member) { reader in
      let reading = reader.reading(name, parser)
      if isRequired, reading.isAbsent { reader.recordMissing(name) }
      return reading.value
    }
  }

  /// A setting that may be absent.
  package init<Value: Equatable & Sendable>(
    _ name: SettingName, _ member: any WritableKeyPath<Group, Value?> & Sendable, _ parser: SettingParser<Value>
  ) {
    self.init(name, member) { $0.reading(name, parser).value }
  }

  /// A setting that names a file of certificates. Its value is the file's PEM text.
  package init(certificates name: SettingName, _ member: any WritableKeyPath<Group, String?> & Sendable) {
    self.init(name, member) { $0.certificates(name) }
  }

  /// - Parameter value: nil keeps the default.
  private init<Value: Equatable & Sendable>(
    _ name: SettingName, _ member: any WritableKeyPath<Group, Value> & Sendable,
    _ value: @escaping @Sendable (inout SettingsReader) -> Value?
  ) {
    self.name = name
    read = { group, reader in if let value = value(&reader) { group[keyPath: member] = value } }
    differs = { $0[keyPath: member] != $1[keyPath: member] }
  }
}

/// What reading a setting, or several that belong together, came to.
package enum SettingReading<Value> {
  /// Nothing is said; something else may apply.
  case absent
  /// Something is said that cannot be used, and the problem was recorded.
  case unusable
  case value(Value)

  /// What was read, or else what is inherited.
  package func inheriting(_ other: SettingReading) -> SettingReading { isAbsent ? other : self }

  package var value: Value? {
    if case .value(let value) = self { value } else { nil }
  }

  package var isAbsent: Bool {
    if case .absent = self { true } else { false }
  }
}

/// Reads settings one by one from the environment and the settings file, and collects everything that is wrong.
///
/// The environment comes first, then the file.
package struct SettingsReader {
  package typealias FileRead = (String) throws(FileReadError) -> [UInt8]

  private let environment: [String: String]
  private let fileValues: [String: String]
  private let readFile: FileRead
  package private(set) var problems: [SettingsProblem] = []
  package let apps: [AppSection]
  /// The section that is being read; nil for what concerns all.
  private var section: AppSection?

  /// - Parameters:
  ///   - fileValues: those of the settings file above its sections. apps: its sections.
  ///   - problems: what is wrong with the names and the form of both.
  package init(
    environment: [String: String], fileValues: [String: String], apps: [AppSection], problems: [SettingsProblem],
    readFile: @escaping FileRead
  ) {
    self.environment = environment
    self.fileValues = fileValues
    self.apps = apps
    self.problems = problems
    self.readFile = readFile
  }

  package static func text(of path: String, readFile: FileRead) throws(FileReadError) -> String {
    guard let text = String(validating: try readFile(path), as: UTF8.self) else {
      throw FileReadError(reason: "not UTF-8 text")
    }
    return text
  }

  /// Reads one app's section, and nothing but it.
  package mutating func reading<Value>(_ section: AppSection, _ read: (inout SettingsReader) -> Value) -> Value {
    self.section = section
    defer { self.section = nil }
    return read(&self)
  }

  /// The text of a setting; nil when it is absent, or set to nothing, which is how shells and containers unset one.
  package func text(_ name: SettingName) -> String? {
    let values = section?.values ?? environment
    let inherited = section == nil ? fileValues[name.text] : nil
    guard let trimmed = (values[name.text] ?? inherited)?.trimmed, !trimmed.isEmpty else { return nil }
    return String(trimmed)
  }

  /// What a setting says. A problem is recorded when that is unusable.
  package mutating func reading<Value>(_ name: SettingName, _ parser: SettingParser<Value>) -> SettingReading<Value> {
    guard let text = text(name) else { return .absent }
    do throws(UnusableValue) {
      return .value(try parser(text))
    } catch {
      let quoted = name.isSecret ? "" : " (\"\(text.prefix(60))\")"
      record(.unusable, name, "is not usable\(quoted): \(error.fault); expected \(error.expectation)")
      return .unusable
    }
  }

  package mutating func recordMissing(_ name: SettingName) {
    record(.missing, name, "is required and not set")
  }

  /// The text of the file that a setting names.
  package mutating func file(_ name: SettingName) -> String? {
    guard let path = text(name) else { return nil }
    do {
      return try Self.text(of: path, readFile: readFile)
    } catch {
      let shown = name.isSecret ? "a file" : path
      record(.unreadable, name, "names \(shown), which cannot be read: \(error.reason)")
      return nil
    }
  }

  package mutating func certificates(_ name: SettingName) -> String? {
    guard let path = text(name), let text = file(name) else { return nil }
    guard text.contains("-----BEGIN CERTIFICATE-----") else {
      record(.unusable, name, "names \(path): no certificate in it; expected PEM text")
      return nil
    }
    return text
  }

  package mutating func record(_ code: SettingsProblem.Code, _ name: SettingName, _ message: String) {
    let place = section.map { "(\($0.header)) " } ?? ""
    problems.append(SettingsProblem(code, name.text, place + message))
  }
}

/// One thing that is wrong with the settings; names the key and what is expected, and never shows a secret.
package struct SettingsProblem: Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// A required key is not set, or set to nothing.
    case missing
    case unknown
    case unusable
    /// Two keys say the same thing, or one is set twice.
    case conflicting
    /// A file that a key names cannot be read.
    case unreadable
    /// A line of the settings file is neither a setting nor a section.
    case malformed
  }

  package let code: Code
  /// The key as the operator wrote it, or the section; for a malformed line, the key that names its file.
  package let key: String
  /// What is wrong and what is expected, to be read after the key.
  package let message: String

  package var description: String { "\(key) \(message)" }

  package init(_ code: Code, _ key: String, _ message: String) {
    self.code = code
    self.key = key
    self.message = message
  }
}

/// Why a file cannot be read.
package struct FileReadError: Error, Equatable, Sendable {
  /// The system's words, to be read after "cannot be read:".
  package let reason: String

  package init(reason: String) { self.reason = reason }
}

/// What a settings file says of one app, between `[app com.example.app]` and the next section.
package struct AppSection: Equatable {
  package let bundleIdentifier: BundleIdentifier
  package var values: [String: String] = [:]

  package init(_ bundleIdentifier: BundleIdentifier) {
    self.bundleIdentifier = bundleIdentifier
  }

  package var header: String { "[app \(bundleIdentifier.text)]" }

  package init(header line: Substring) throws(UnusableValue) {
    let expectation = "[app BUNDLE], such as [app com.example.app]"
    guard line.hasPrefix("["), line.hasSuffix("]") else { throw UnusableValue("no section", expected: expectation) }
    let words = line.dropFirst().dropLast().split(whereSeparator: \.isWhitespace)
    guard words.count == 2, words[0] == "app", let bundle = try? BundleIdentifier(String(words[1])) else {
      throw UnusableValue("no section", expected: expectation)
    }
    self.init(bundle)
  }
}
