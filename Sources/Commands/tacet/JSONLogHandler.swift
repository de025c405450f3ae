import APNSCore
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
    var line = text(of: event)
    line.append(UInt8(ascii: "\n"))
    // One write a line, so that lines of several threads do not mix. What cannot be written is lost, as logs are.
    line.withUnsafeBytes { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// The object, its members in the order of their names.
  func text(of event: LogEvent, at time: LogTimestamp = .now) -> [UInt8] {
    let ofEveryLine: Logger.Metadata = [
      "time": .string(time.text), "level": .string(event.level.rawValue), "message": .string(event.message.description),
    ]
    var line = event
    line.metadata = event.metadata?.merging(ofEveryLine) { $1 } ?? ofEveryLine
    return JSONBytes.document(reservingBytes: 384) { object in
      for (name, value) in line.members(besides: metadata) {
        object.appendComma()
        object.append(string: name)
        object.append(byte: UInt8(ascii: ":"))
        object.append(string: value.description)
      }
    }
  }
}
