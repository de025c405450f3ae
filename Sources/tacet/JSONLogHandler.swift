import FoundationEssentials
import Glibc
import Logging

/// Writes each log entry as one line of JSON to standard error: `time`, `level`, `message`, and the metadata beside
/// them as strings.
struct JSONLogHandler: LogHandler {
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var members = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
    members["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    members["level"] = event.level.rawValue
    members["message"] = "\(event.message)"
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard var line = try? encoder.encode(members) else { return }
    line.append(UInt8(ascii: "\n"))
    // One write a line, so that lines of several threads do not mix. What cannot be written is lost, as logs are.
    line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
