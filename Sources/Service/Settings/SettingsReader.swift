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
