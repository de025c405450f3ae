import Logging
import Settings

extension LogSettings {
  /// A logger to standard error, in the wanted format.
  /// - Parameter instance: stands in every line, so that the lines of several processes can be told apart.
  func makeLogger(label: String, instance: String? = nil) -> Logger {
    var logger = Logger(label: label) { label in
      switch format {
      case .text: TextLogHandler(label: label)
      case .json: JSONLogHandler()
      }
    }
    if let instance { logger[metadataKey: "instance"] = "\(instance)" }
    logger.logLevel = Logger.Level(rawValue: level.rawValue) ?? .info
    return logger
  }
}
