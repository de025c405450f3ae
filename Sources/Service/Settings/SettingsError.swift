/// Everything that keeps the service from starting with its settings, found in one go.
public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
  /// At least one problem, in the order in which they were found.
  public let problems: [SettingsProblem]

  /// One line for each problem.
  public var description: String {
    problems.map(\.description).joined(separator: "\n")
  }
}
