import Glibc
import Logging
import Operations
import PushRules
import Settings

extension LogSettings {
  /// A logger to standard error, in the wanted format.
  /// - Parameter instance: part of every line, so that the lines of several processes can be distinguished.
  func makeLogger(label: String, instance: String? = nil) -> Logger {
    var logger = Logger(label: label) { label in
      switch self.format {
      case .text: TextLogHandler(label: label)
      case .json: JSONLogHandler()
      }
    }
    if let instance { logger[metadataKey: "instance"] = "\(instance)" }
    logger.logLevel = Logger.Level(rawValue: self.level.rawValue) ?? .info
    return logger
  }
}

/// Writes each log entry as one line for people to standard error: time, level, label, message, and the metadata in the
/// order of its keys.
///
/// `2027-01-31T12:00:00.250Z info tacet: push decided decision=sent subject_id=…`. Control characters are escaped, so that
/// no value can end the line and begin another one; values with a space or an equals sign are quoted, so that no value can
/// end itself and begin another one.
struct TextLogHandler: LogHandler {
  let label: String
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]

  init(label: String) { self.label = label }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line = "\(TimeText.instant(TimeText.now)) \(event.level.rawValue) \(label): \(text(of: event))\n"
    // One write a line, so that lines of several threads do not mix. What cannot be written is lost, as logs are.
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  /// The message and the metadata on one line. A message's own words are those of the source.
  func text(of event: LogEvent) -> String {
    var text = event.message.description
    // Room for a push's line, so that it does not grow with each of its words.
    text.reserveCapacity(256)
    for member in event.members(besides: metadata) {
      text += " "
      text += member.key
      text += "="
      text += Self.quoted(member.value.description)
    }
    return text
  }

  /// A value as it is, or in quotes where it could be taken for more than one, or for one in quotes.
  private static func quoted(_ value: String) -> String {
    // Nearly every value. To look the properties of a scalar up takes longer than to write it.
    if value.utf8.allSatisfy(isPlain) { return value }
    guard value.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0 == "=" || $0 == "\"" }) else {
      return escaped(value)
    }
    return "\"\(escaped(value, isQuoted: true))\""
  }

  /// Whether a byte is a character that needs no escape anywhere in a line.
  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "=") && byte != UInt8(ascii: "\"")
  }

  /// Scalar by scalar: a quote with a combining mark behind it is one character, and equals no quote.
  private static func escaped(_ text: String, isQuoted: Bool = false) -> String {
    guard isQuoted || text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\"" where isQuoted: result += #"\""#
      case "\\" where isQuoted: result += #"\\"#
      case "\n": result += #"\n"#
      case "\r": result += #"\r"#
      case "\t": result += #"\t"#
      case let scalar where isControl(scalar): result += #"\u{"# + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
  }
}

extension LogEvent {
  /// The metadata of the event and those of its logger, in the order of their keys; of two with one key the event's.
  func members(besides metadata: Logger.Metadata) -> [(key: String, value: Logger.Metadata.Value)] {
    guard let own = self.metadata else { return metadata.sorted { $0.key < $1.key } }
    return (Array(own) + metadata.filter { own[$0.key] == nil }).sorted { $0.key < $1.key }
  }
}

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
  func text(of event: LogEvent, at time: Int64 = TimeText.now) -> [UInt8] {
    let ofEveryLine: Logger.Metadata = [
      "time": .string(TimeText.instant(time)), "level": .string(event.level.rawValue),
      "message": .string(event.message.description),
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
