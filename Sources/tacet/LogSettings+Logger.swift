import Logging
import ServiceSettings

extension LogSettings {
  /// A logger to standard error, in the wanted format.
  func makeLogger(label: String) -> Logger {
    var logger = Logger(label: label) { label in
      switch format {
      case .text: StreamLogHandler.standardError(label: label)
      case .json: JSONLogHandler()
      }
    }
    logger.logLevel = Logger.Level(rawValue: level.rawValue) ?? .info
    return logger
  }
}
