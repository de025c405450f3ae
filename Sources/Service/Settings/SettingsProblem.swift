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
