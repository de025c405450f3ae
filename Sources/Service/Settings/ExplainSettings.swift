/// What a command that only looks into the database is told from outside.
public struct ExplainSettings: Equatable, Sendable {
  /// The database.
  public let database: DatabaseSettings
  /// Log messages.
  public let log: LogSettings

  /// Reads the settings of `tacet explain`; values of other settings are not looked at, but unknown keys are refused all
  /// the same.
  ///
  /// - Parameters: as of ``MigrateSettings``.
  /// - Throws: every problem at once.
  public init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    let database = DatabaseSettings(&reader)
    log = LogSettings(&reader)
    try reader.finish()
    guard let database else { preconditionFailure("the database setting is nil, but no problem was noted") }
    self.database = database
  }
}
