internal import ArgumentParser
package import Logging

/// What a simulator's command logs, on standard error: standard output is for its addresses.
package enum SimulatorLog {
  /// Begins to log from this level on. To be called once, before the first logger is made.
  package static func begin(at level: Logger.Level) {
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
  }

  /// The level of an option.
  /// - Throws: `ValidationError` for any other name.
  package static func level(named name: String) throws -> Logger.Level {
    guard let level = Logger.Level(rawValue: name) else { throw ValidationError("\(name) is no log level") }
    return level
  }
}
