import Logging
import Synchronization

/// What a part under test has logged.
final class LogLines: Sendable {
  private struct Line {
    let text: String
    let metadata: String
  }

  private let lines = Mutex<[Line]>([])

  /// Levels and messages, in order.
  var texts: [String] { lines.withLock { $0.map(\.text) } }

  /// The same with their metadata.
  var all: [String] { lines.withLock { $0.map { $0.text + " " + $0.metadata } } }

  var logger: Logger {
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
      let line = Line(text: "\(event.level): \(event.message)", metadata: "\(event.metadata ?? [:])")
      lines.lines.withLock { $0.append(line) }
    }
  }
}
