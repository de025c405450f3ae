package import Logging
internal import Synchronization

/// What a part under test has logged.
package final class LogLines: Sendable {
  /// One line.
  package struct Line: Sendable {
    /// How serious it is.
    package let level: Logger.Level
    /// The message without its values.
    package let message: String
    /// The values as text.
    package let metadata: [String: String]
  }

  private let lines = Mutex<[Line]>([])

  /// Nothing has been logged.
  package init() {}

  /// Every line, in order.
  package var all: [Line] { lines.withLock { $0 } }

  /// Levels and messages, in order.
  package var texts: [String] { all.map { "\($0.level): \($0.message)" } }

  /// Logs into this at every level.
  package var logger: Logger {
    Logger(label: "tests") { _ in Handler(lines: self) }
  }

  private struct Handler: LogHandler {
    let lines: LogLines
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
      let line = Line(level: event.level, message: "\(event.message)", metadata: metadata)
      lines.lines.withLock { $0.append(line) }
      RunLogs.logger.log(level: event.level, event.message, metadata: event.metadata)
    }
  }
}
