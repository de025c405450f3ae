package struct LogSettings: Sendable {
  /// The names of swift-log; each is less severe than the next.
  package enum Level: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  package enum Format: String, CaseIterable, Sendable {
    /// A line for people.
    case text
    /// A JSON object a line, for machines.
    case json
  }

  package let level = Setting("LOG_LEVEL", default: Level.info, .choice)
  package let format = Setting("LOG_FORMAT", default: Format.text, .choice)
}
