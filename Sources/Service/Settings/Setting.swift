internal import Glibc

/// One setting: its name, how it is read, and what applies without it. The rows of tables such as ``HTTPSettings``.
package struct Setting<Value: Equatable & Sendable>: Sendable {
  /// The name in the environment and in the settings file.
  let name: String
  let traits: SettingTraits
  /// What applies where the setting is absent or unusable; nil where it is required.
  let fallback: Value?
  private let read: @Sendable (String, inout SettingsReader) -> SettingReading<Value>

  init(_ name: String, default fallback: Value, _ parser: SettingParser<Value>, _ traits: SettingTraits = []) {
    self.init(name, traits, fallback) { name, reader in reader.reading(name, parser) }
  }

  init(required name: String, _ parser: SettingParser<Value>, _ traits: SettingTraits = []) {
    self.init(name, traits, nil) { name, reader in reader.reading(name, parser) }
  }

  /// A setting that may be absent.
  init<Wrapped: Equatable & Sendable>(
    _ name: String, _ parser: SettingParser<Wrapped>, _ traits: SettingTraits = []
  ) where Value == Wrapped? {
    self.init(name, traits, .some(nil)) { name, reader in
      switch reader.reading(name, parser) {
      case .absent: .absent
      case .unusable: .unusable
      case .value(let value): .value(value)
      }
    }
  }

  private init(
    _ name: String, _ traits: SettingTraits, _ fallback: Value?,
    read: @escaping @Sendable (String, inout SettingsReader) -> SettingReading<Value>
  ) {
    self.name = name
    self.traits = traits
    self.fallback = fallback
    self.read = read
  }
}

extension Setting<String?> {
  /// A setting that names a file of certificates. Its value is the file's PEM text.
  init(certificates name: String, _ traits: SettingTraits = []) {
    self.init(name, traits, .some(nil)) { name, reader in .value(reader.certificates(name)) }
  }
}

/// What a row says besides its value.
struct SettingTraits: OptionSet, Sendable {
  let rawValue: Int

  /// The value must never be shown: it is a secret, or may hold one, as a URL holds a password and as a key is pasted where
  /// its file should be named.
  static let secret = SettingTraits(rawValue: 1)
}

/// A row without the type of its value.
protocol SettingRow: Sendable {
  var name: String { get }
  var traits: SettingTraits { get }

  /// What applies; nil only when a problem was recorded.
  func value(_ reader: inout SettingsReader) -> (any Equatable & Sendable)?
}

extension Setting: SettingRow {
  func reading(_ reader: inout SettingsReader) -> SettingReading<Value> { read(name, &reader) }

  func value(_ reader: inout SettingsReader) -> (any Equatable & Sendable)? { applied(&reader) }

  /// What applies; nil only when a problem was recorded.
  func applied(_ reader: inout SettingsReader) -> Value? {
    let reading = reading(&reader)
    if fallback == nil, reading.isAbsent { reader.recordMissing(name) }
    return reading.value ?? fallback
  }
}

/// What the settings of one table say, each under the name of its row: `settings.http.connectionsMax`.
@dynamicMemberLookup
package struct SettingValues<Table: Sendable>: Equatable, Sendable {
  private let table: Table
  private let values: [String: any Equatable & Sendable]

  /// Reads every row of a table. The values are whole unless the reader has recorded a problem.
  init(_ table: Table, _ reader: inout SettingsReader) {
    self.table = table
    values = rows(of: table).reduce(into: [:]) { $0[$1.name] = $1.value(&reader) }
  }

  package subscript<Value>(dynamicMember row: KeyPath<Table, Setting<Value>>) -> Value {
    let name = table[keyPath: row].name
    guard let any = values[name], let value = any as? Value else { preconditionFailure("\(name) was not read") }
    return value
  }

  package static func == (one: Self, other: Self) -> Bool { one.changes(since: other).isEmpty }

  func changes(since old: Self) -> [any SettingRow] {
    rows(of: table).filter { !isEqual(values[$0.name], old.values[$0.name]) }
  }
}

/// The rows of a table, in the order of the source.
func rows(of table: Any) -> [any SettingRow] {
  Mirror(reflecting: table).children.compactMap { $0.value as? any SettingRow }
}

private func isEqual(_ one: (any Equatable)?, _ other: (any Equatable)?) -> Bool {
  func compare<Value: Equatable>(_ one: Value, _ other: any Equatable) -> Bool { one == other as? Value }
  guard let one, let other else { return one == nil && other == nil }
  return compare(one, other)
}

/// What reading a setting, or several that belong together, came to.
enum SettingReading<Value> {
  /// Nothing is said; something else may apply.
  case absent
  /// Something is said that cannot be used, and the problem was recorded.
  case unusable
  case value(Value)

  /// What was read, or else what is inherited.
  func inheriting(_ other: SettingReading) -> SettingReading {
    if case .absent = self { other } else { self }
  }

  var value: Value? {
    if case .value(let value) = self { value } else { nil }
  }

  var isAbsent: Bool {
    if case .absent = self { true } else { false }
  }
}

/// Reads settings one by one from the environment and the settings file, and collects everything that is wrong.
///
/// The environment comes first, then the file.
struct SettingsReader {
  typealias FileRead = (String) throws(LocalFile.ReadError) -> [UInt8]

  private let environment: [String: String]
  private let fileValues: [String: String]
  private let readFile: FileRead
  private(set) var problems: [SettingsProblem] = []
  let apps: [AppSection]
  /// The section that is being read; nil for what concerns all.
  private var section: AppSection?

  /// Reads the settings file, if the environment names one, and looks for unknown keys in both.
  init(environment: [String: String], readFile: @escaping FileRead) {
    self.readFile = readFile
    problems = Self.unknownKeys(in: environment)
    var file = SettingsFile(text: "")
    if let path = environment[SettingNames.configFile], !path.isEmpty {
      do {
        file = SettingsFile(text: try Self.text(of: path, readFile: readFile))
        problems += file.problems
      } catch {
        problems.append(
          SettingsProblem(.unreadable, SettingNames.configFile, "names \(path), which cannot be read: \(error.reason)"))
      }
    }
    problems += Self.quotedValues(in: environment, Self.quotes + Self.curlyQuotes, at: "environment")
    for values in [file.values] + file.apps.map(\.values) {
      problems += Self.quotedValues(in: values, Self.curlyQuotes, at: "settings file")
    }
    apps = file.apps
    self.environment = environment
    fileValues = file.values
  }

  private static let quotes: [(Character, Character)] = [("\"", "\""), ("'", "'")]
  private static let curlyQuotes: [(Character, Character)] = [("“", "”"), ("‘", "’"), ("„", "“")]

  /// Values that somebody has quoted for a shell that is not there, as in the files of `docker run --env-file`. A secret with quotes
  /// around it would be another secret. In the settings file, a value in quotes may have others inside.
  private static func quotedValues(
    in values: [String: String], _ quotes: [(Character, Character)], at place: String
  ) -> [SettingsProblem] {
    SettingNames.all.compactMap { name in
      guard let value = values[name]?.trimmed, value.count > 1,
        quotes.contains(where: { $0.0 == value.first && $0.1 == value.last })
      else { return nil }
      return SettingsProblem(
        .unusable, name,
        "(\(place)) is not usable: in quotes, which would belong to it; expected the value without them")
    }
  }

  private static func unknownKeys(in environment: [String: String]) -> [SettingsProblem] {
    environment.keys.sorted()
      .filter { name in !SettingNames.all.contains(name) && SettingNames.ownPrefixes.contains { name.hasPrefix($0) } }
      .filter { !isServiceLink($0, in: environment) }
      .map { .unknown($0, at: "environment") }
  }

  /// Whether Kubernetes has set it, for a Service of the namespace: for one named `tacet`, `TACET_SERVICE_HOST`,
  /// `TACET_SERVICE_PORT_HTTP`, `TACET_PORT_80_TCP_ADDR` and more.
  private static func isServiceLink(_ name: String, in environment: [String: String]) -> Bool {
    for mark in ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"] {
      guard let end = name.firstRange(of: mark) else { continue }
      let service = name[..<end.lowerBound]
      return ["", "_"].contains(name[end.upperBound...].prefix(1)) && environment["\(service)_SERVICE_HOST"] != nil
    }
    return false
  }

  private static func text(of path: String, readFile: FileRead) throws(LocalFile.ReadError) -> String {
    guard let text = String(validating: try readFile(path), as: UTF8.self) else {
      throw LocalFile.ReadError(reason: "not UTF-8 text")
    }
    return text
  }
}

extension SettingsReader {
  /// Reads one app's section, and nothing but it.
  mutating func reading<Value>(_ section: AppSection, _ read: (inout SettingsReader) -> Value) -> Value {
    self.section = section
    defer { self.section = nil }
    return read(&self)
  }

  /// The text of a setting; nil when it is absent, or set to nothing, which is how shells and containers unset one.
  func text(_ name: String) -> String? {
    guard let trimmed = rawText(name)?.trimmed, !trimmed.isEmpty else { return nil }
    return String(trimmed)
  }

  private func rawText(_ name: String) -> String? {
    if let section { return section.values[name] }
    return environment[name] ?? fileValues[name]
  }

  private func isSecret(_ name: String) -> Bool { SettingNames.secrets.contains(name) }

  /// What a setting says. A problem is recorded when that is unusable.
  mutating func reading<Value>(_ name: String, _ parser: SettingParser<Value>) -> SettingReading<Value> {
    guard let text = text(name) else { return .absent }
    do throws(UnusableValue) {
      return .value(try parser(text))
    } catch {
      let quoted = isSecret(name) ? "" : " (\"\(text.prefix(60))\")"
      record(.unusable, name, "is not usable\(quoted): \(error.fault); expected \(error.expectation)")
      return .unusable
    }
  }

  mutating func recordMissing(_ name: String) {
    record(.missing, name, "is required and not set")
  }

  /// The text of the file that a setting names.
  mutating func file(_ name: String) -> String? {
    guard let path = text(name) else { return nil }
    do {
      return try Self.text(of: path, readFile: readFile)
    } catch {
      let shown = isSecret(name) ? "a file" : path
      record(.unreadable, name, "names \(shown), which cannot be read: \(error.reason)")
      return nil
    }
  }

  mutating func certificates(_ name: String) -> String? {
    guard let path = text(name), let text = file(name) else { return nil }
    guard text.contains("-----BEGIN CERTIFICATE-----") else {
      record(.unusable, name, "names \(path): no certificate in it; expected PEM text")
      return nil
    }
    return text
  }

  mutating func record(_ code: SettingsProblem.Code, _ name: String, _ message: String) {
    let place = section.map { "(\($0.header)) " } ?? ""
    problems.append(SettingsProblem(code, name, place + message))
  }

  /// Ends the reading.
  ///
  /// - Throws: all problems, if there are any.
  func finish() throws(SettingsError) {
    if !problems.isEmpty { throw SettingsError(problems: problems) }
  }
}

/// One thing that is wrong with the settings; names the key and what is expected, and never shows a secret.
package struct SettingsProblem: Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
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
}

extension SettingsProblem {
  init(_ code: Code, _ key: String, _ message: String) {
    self.init(code: code, key: key, message: message)
  }

  static func unknown(
    _ name: String, at place: String, among known: [String] = SettingNames.all
  ) -> SettingsProblem {
    let nearest = SettingNames.nearest(to: name, among: known)
    return SettingsProblem(.unknown, name, "(\(place)) is not a setting; did you mean \(nearest)?")
  }
}

/// Everything that keeps the service from starting with its settings, found in one go.
package struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
  /// At least one problem, in the order in which they were found.
  package let problems: [SettingsProblem]

  /// One line for each problem.
  package var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}

/// A small file of this machine: settings, keys and certificates.
package enum LocalFile {
  /// The most bytes read. A settings file has a few kilobytes, the certificates of a whole system about 250.
  package static let bytesMax = 1 << 20

  package struct ReadError: Error, Equatable, Sendable {
    /// The system's words, to be read after "cannot be read:".
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  /// All bytes of a file. Blocks; meant for the start of a process.
  ///
  /// - Throws: when it cannot be opened or read, or is larger than ``bytesMax``.
  package static func read(path: String) throws(ReadError) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw ReadError(reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw ReadError(reason: String(cString: strerror(errno))) }
    guard count <= bytesMax else { throw ReadError(reason: "larger than \(bytesMax) bytes") }
    return Array(bytes[..<count])
  }
}
