internal import Glibc
package import PushRules

extension SettingsReader {
  /// Reads the settings file, if the environment names one, and looks for unknown keys in both.
  init(environment: [String: String], readFile: @escaping FileRead) {
    var problems = Self.unknownKeys(in: environment)
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
    self.init(
      environment: environment, fileValues: file.values, apps: file.apps, problems: problems, readFile: readFile)
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

  /// Ends the reading.
  ///
  /// - Throws: all problems, if there are any.
  func finish() throws(SettingsError) {
    if !problems.isEmpty { throw SettingsError(problems: problems) }
  }
}

extension SettingsProblem {
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

  /// All bytes of a file. Blocks; meant for the start of a process.
  ///
  /// - Throws: when it cannot be opened or read, or is larger than ``bytesMax``.
  package static func read(path: String) throws(FileReadError) -> [UInt8] {
    guard let file = fopen(path, "re") else { throw FileReadError(reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw FileReadError(reason: String(cString: strerror(errno))) }
    guard count <= bytesMax else { throw FileReadError(reason: "larger than \(bytesMax) bytes") }
    return Array(bytes[..<count])
  }
}
