/// What the commands that only need the database are told from outside.
public struct MigrateSettings: Equatable, Sendable {
  /// The database.
  public let database: DatabaseSettings
  /// Log messages.
  public let log: LogSettings

  /// Reads the settings of `tacet migrate`; values of other settings are not looked at, but unknown keys are refused
  /// all the same.
  ///
  /// - Parameters:
  ///   - environment: the process's environment, which wins over the file that its `TACET_CONFIG` names.
  ///   - readFile: how the settings file is read.
  /// - Throws: every problem at once.
  public init(
    environment: [String: String],
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    let database = DatabaseSettings(&reader)
    log = LogSettings(&reader)
    if database?.poolMode == .transaction {
      // Only one migrator may work at a time, and it says so by a lock of its session.
      reader.note(
        .conflicting, .databasePoolMode,
        "is transaction, and migrations need a session: set DATABASE_URL to the server itself, and this to session")
    }
    try reader.finish()
    guard let database else { preconditionFailure("the database setting is nil, but no problem was noted") }
    self.database = database
  }
}
