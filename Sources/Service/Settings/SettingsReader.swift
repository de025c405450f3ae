internal import Configuration

/// Reads settings one by one from the environment and the settings file, and collects everything that is wrong.
///
/// Precedence and the marking of secrets are the configuration library's: providers in order, the environment first.
/// Conversion is not: the library's typed accessors turn an unusable value into the default, or stop at the first one
/// and quote it.
struct SettingsReader {
  typealias FileRead = (String) throws(LocalFile.ReadError) -> [UInt8]

  private let configuration: ConfigReader
  private let readFile: FileRead
  private(set) var problems: [SettingsProblem] = []
  /// The sections of the settings file.
  let apps: [AppSection]
  /// The section that is being read; nil for what concerns all.
  private var section: AppSection?

  /// Reads the settings file, if the environment names one, and looks for unknown keys in both.
  init(environment: [String: String], readFile: @escaping FileRead) {
    self.readFile = readFile
    problems = Self.unknownKeys(in: environment)
    var file = SettingsFile(text: "")
    if let path = environment[SettingKey.configFile.rawValue], !path.isEmpty {
      do {
        file = SettingsFile(text: try Self.text(of: path, readFile: readFile))
        problems += file.problems
      } catch {
        problems.append(
          SettingsProblem(.unreadable, .configFile, "names \(path), which cannot be read: \(error.reason)"))
      }
    }
    apps = file.apps
    configuration = ConfigReader(providers: [Self.provider(environment), Self.provider(file.values)])
  }

  private static func unknownKeys(in environment: [String: String]) -> [SettingsProblem] {
    environment.keys.sorted()
      .filter { name in SettingKey(rawValue: name) == nil && SettingKey.ownPrefixes.contains { name.hasPrefix($0) } }
      .map { .unknown($0, at: "environment") }
  }

  private static func provider(_ values: [String: String]) -> EnvironmentVariablesProvider {
    let secrets = Set(SettingKey.allCases.filter(\.isSecret).map(\.rawValue))
    return EnvironmentVariablesProvider(environmentVariables: values, secretsSpecifier: .specific(secrets))
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

  /// The text of a setting; nil when it is set nowhere, or to nothing, which is how shells and containers unset one.
  func text(_ key: SettingKey) -> String? {
    guard let trimmed = rawText(key)?.trimmed, !trimmed.isEmpty else { return nil }
    return String(trimmed)
  }

  private func rawText(_ key: SettingKey) -> String? {
    if let section { return section.values[key.rawValue] }
    let components = key.rawValue.lowercased().split(separator: "_").map(String.init)
    return configuration.string(forKey: ConfigKey(components), isSecret: key.isSecret)
  }

  /// The value of a setting that may be left out; nil when it is, or when it is unusable, which is noted.
  mutating func optional<Value>(
    _ key: SettingKey, _ parse: (String) throws(UnusableValue) -> Value
  ) -> Value? {
    reading(key, parse).value
  }

  /// The value of a setting, for which something else may stand in when it is left out.
  mutating func reading<Value>(
    _ key: SettingKey, _ parse: (String) throws(UnusableValue) -> Value
  ) -> SettingReading<Value> {
    guard let text = text(key) else { return .absent }
    do {
      return .value(try parse(text))
    } catch {
      note(.unusable, key, "\(quoted(text, of: key)): \(error.fault); expected \(error.expectation)")
      return .unusable
    }
  }

  /// The value of a setting that must be there; nil only when a problem was noted.
  mutating func required<Value>(
    _ key: SettingKey, _ parse: (String) throws(UnusableValue) -> Value
  ) -> Value? {
    if text(key) == nil { noteMissing(key) }
    return optional(key, parse)
  }

  mutating func noteMissing(_ key: SettingKey) {
    note(.missing, key, "is required and not set")
  }

  /// The text of the file that a setting names.
  mutating func file(_ key: SettingKey) -> String? {
    guard let path = text(key) else { return nil }
    do {
      return try Self.text(of: path, readFile: readFile)
    } catch {
      let name = key.isSecret ? "a file" : path
      note(.unreadable, key, "names \(name), which cannot be read: \(error.reason)")
      return nil
    }
  }

  /// The text of a file of certificates.
  mutating func certificates(_ key: SettingKey) -> String? {
    guard let path = text(key), let text = file(key) else { return nil }
    guard text.contains("-----BEGIN CERTIFICATE-----") else {
      note(.unusable, key, "names \(path): no certificate in it; expected PEM text")
      return nil
    }
    return text
  }

  mutating func note(_ code: SettingsProblem.Code, _ key: SettingKey, _ message: String) {
    let place = section.map { "(\($0.header)) " } ?? ""
    problems.append(SettingsProblem(code, key, place + message))
  }

  /// Ends the reading.
  ///
  /// - Throws: all problems, if there are any.
  func finish() throws(SettingsError) {
    if !problems.isEmpty { throw SettingsError(problems: problems) }
  }

  /// What an error may show of a value: the beginning of an ordinary one, nothing of a secret.
  private func quoted(_ text: String, of key: SettingKey) -> String {
    key.isSecret ? "is not usable" : "is not usable (\"\(text.prefix(60))\")"
  }
}
