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
