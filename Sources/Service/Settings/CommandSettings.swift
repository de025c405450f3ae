/// The settings of commands that only need the database.
package struct CommandSettings: Equatable, Sendable {
  package let database: SettingValues<DatabaseSettings>
  package let log: SettingValues<LogSettings>

  /// Reads the settings of a command. Values of other settings are not looked at, but unknown keys are refused all the same.
  ///
  /// - Parameters:
  ///   - environment: the process's environment, which wins over the file that its `TACET_CONFIG` names.
  ///   - needsSession: whether a pooler that lends sessions by transactions is refused. Only one migrator may work at a
  ///     time, and it says so by a lock of its session.
  ///   - readFile: how the settings file is read.
  /// - Throws: every problem at once.
  package init(
    environment: [String: String], needsSession: Bool,
    readFile: @escaping (String) throws(LocalFile.ReadError) -> [UInt8] = LocalFile.read(path:)
  ) throws(SettingsError) {
    var reader = SettingsReader(environment: environment, readFile: readFile)
    database = SettingValues(DatabaseSettings(), &reader)
    log = SettingValues(LogSettings(), &reader)
    if needsSession, database.poolMode == .transaction {
      reader.record(
        .conflicting, DatabaseSettings().poolMode.name,
        "is transaction, and migrations need a session: set DATABASE_URL to the server itself, and this to session")
    }
    try reader.finish()
  }
}
