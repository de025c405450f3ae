import Settings
import Testing

@Suite("Log settings")
struct LogSettingsTests {
  @Test("every level and every format has its name", arguments: LogSettings.Level.allCases, LogSettings.Format.allCases)
  func names(level: LogSettings.Level, format: LogSettings.Format) throws {
    let log = try makeSettings(["LOG_LEVEL": level.rawValue, "LOG_FORMAT": format.rawValue]).log
    #expect(log.level == level)
    #expect(log.format == format)
  }
}
