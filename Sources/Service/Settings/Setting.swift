internal import Glibc

/// The name of a setting, in the environment and in the settings file.
struct SettingName: Equatable, Sendable, ExpressibleByStringLiteral {
  let text: String
  /// The value must never be shown: it is a secret, or may hold one, as a URL holds a password and as a key is pasted where
  /// its file should be named.
  var isSecret = false

  init(stringLiteral text: String) { self.text = text }

  static func secret(_ name: SettingName) -> SettingName {
    var name = name
    name.isSecret = true
    return name
  }
}

/// Settings that are read together. The members have the defaults; the table has the names, and how each is read.
protocol SettingsGroup: Equatable, Sendable {
  /// The defaults; in the place of what is required, a value that nobody sees, because its absence is a problem.
  init()

  static var table: [Setting<Self>] { get }
}

extension SettingsGroup {
  static var names: [SettingName] { table.map(\.name) }

  /// Reads every setting of the table. The values are whole unless the reader has recorded a problem.
  init(_ reader: inout SettingsReader) {
    self.init()
    for setting in Self.table { setting.read(&self, &reader) }
  }

  /// Names of settings that say something else than before.
  func changes(since old: Self) -> [String] {
    Self.table.filter { $0.differs(self, old) }.map(\.name.text)
  }
}

/// A row of a group's table: a setting's name, its member, and the parser that knows its bounds and their words.
struct Setting<Group: Sendable>: Sendable {
  let name: SettingName
  fileprivate let read: @Sendable (inout Group, inout SettingsReader) -> Void
  fileprivate let differs: @Sendable (Group, Group) -> Bool

  init<Value: Equatable & Sendable>(
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
  init<Value: Equatable & Sendable>(
    _ name: SettingName, _ member: any WritableKeyPath<Group, Value?> & Sendable, _ parser: SettingParser<Value>
  ) {
    self.init(name, member) { $0.reading(name, parser).value }
  }

  /// A setting that names a file of certificates. Its value is the file's PEM text.
  init(certificates name: SettingName, _ member: any WritableKeyPath<Group, String?> & Sendable) {
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
enum SettingReading<Value> {
  /// Nothing is said; something else may apply.
  case absent
  /// Something is said that cannot be used, and the problem was recorded.
  case unusable
  case value(Value)

  /// What was read, or else what is inherited.
  func inheriting(_ other: SettingReading) -> SettingReading { isAbsent ? other : self }

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
    let name = SettingNames.configFile.text
    if let path = environment[name], !path.isEmpty {
      do {
        file = SettingsFile(text: try Self.text(of: path, readFile: readFile))
        problems += file.problems
      } catch {
        problems.append(SettingsProblem(.unreadable, name, "names \(path), which cannot be read: \(error.reason)"))
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
    SettingNames.texts.compactMap { name in
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
      .filter { name in !SettingNames.texts.contains(name) && SettingNames.ownPrefixes.contains { name.hasPrefix($0) } }
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

  /// Reads one app's section, and nothing but it.
  mutating func reading<Value>(_ section: AppSection, _ read: (inout SettingsReader) -> Value) -> Value {
    self.section = section
    defer { self.section = nil }
    return read(&self)
  }

  /// The text of a setting; nil when it is absent, or set to nothing, which is how shells and containers unset one.
  func text(_ name: SettingName) -> String? {
    let values = section?.values ?? environment
    let inherited = section == nil ? fileValues[name.text] : nil
    guard let trimmed = (values[name.text] ?? inherited)?.trimmed, !trimmed.isEmpty else { return nil }
    return String(trimmed)
  }

  /// What a setting says. A problem is recorded when that is unusable.
  mutating func reading<Value>(_ name: SettingName, _ parser: SettingParser<Value>) -> SettingReading<Value> {
    guard let text = text(name) else { return .absent }
    do throws(UnusableValue) {
      return .value(try parser(text))
    } catch {
      let quoted = name.isSecret ? "" : " (\"\(text.prefix(60))\")"
      record(.unusable, name, "is not usable\(quoted): \(error.fault); expected \(error.expectation)")
      return .unusable
    }
  }

  mutating func recordMissing(_ name: SettingName) {
    record(.missing, name, "is required and not set")
  }

  /// The text of the file that a setting names.
  mutating func file(_ name: SettingName) -> String? {
    guard let path = text(name) else { return nil }
    do {
      return try Self.text(of: path, readFile: readFile)
    } catch {
      let shown = name.isSecret ? "a file" : path
      record(.unreadable, name, "names \(shown), which cannot be read: \(error.reason)")
      return nil
    }
  }

  mutating func certificates(_ name: SettingName) -> String? {
    guard let path = text(name), let text = file(name) else { return nil }
    guard text.contains("-----BEGIN CERTIFICATE-----") else {
      record(.unusable, name, "names \(path): no certificate in it; expected PEM text")
      return nil
    }
    return text
  }

  mutating func record(_ code: SettingsProblem.Code, _ name: SettingName, _ message: String) {
    let place = section.map { "(\($0.header)) " } ?? ""
    problems.append(SettingsProblem(code, name.text, place + message))
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

  init(_ code: Code, _ key: String, _ message: String) {
    self.code = code
    self.key = key
    self.message = message
  }

  static func unknown(_ name: String, at place: String, among known: [String] = SettingNames.texts) -> SettingsProblem {
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
  static let bytesMax = 1 << 20

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
