/// What the service says about itself, and how.
public struct LogSettings: Equatable, Sendable {
  /// How much is said; the names are swift-log's.
  public enum Level: String, CaseIterable, Sendable {
    /// Everything, step by step.
    case trace
    /// What helps to find a fault.
    case debug
    /// What an operator may want to know.
    case info
    /// What an operator should know.
    case notice
    /// What may become an error.
    case warning
    /// What went wrong.
    case error
    /// What stops the service.
    case critical
  }

  /// How a message is written.
  public enum Format: String, CaseIterable, Sendable {
    /// A line for people.
    case text
    /// A JSON object a line, for machines.
    case json
  }

  /// The least severe messages that are written.
  public let level: Level
  /// How they are written.
  public let format: Format

  init(_ reader: inout SettingsReader) {
    level = reader.optional(.logLevel) { text throws(UnusableValue) in try SettingNumbers.choice(text) } ?? .info
    format = reader.optional(.logFormat) { text throws(UnusableValue) in try SettingNumbers.choice(text) } ?? .text
  }
}
