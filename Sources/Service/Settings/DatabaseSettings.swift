/// How to reach the database.
public struct DatabaseSettings: Equatable, Sendable {
  /// Whose the database's sessions are.
  public enum PoolMode: String, CaseIterable, Sendable {
    /// Ours as long as we are connected.
    case session
    /// Lent by a pooler for one transaction at a time.
    case transaction
  }

  /// What libpq takes: a `postgresql://` URI or a `keyword=value` string, several hosts allowed. Secret, as it may hold
  /// the password.
  public let connectionString: Secret<String>
  /// ``PoolMode/session`` unless set.
  public let poolMode: PoolMode

  init?(_ reader: inout SettingsReader) {
    poolMode =
      reader.optional(.databasePoolMode) { text throws(UnusableValue) in try SettingNumbers.choice(text) } ?? .session
    guard let connectionString = reader.required(.databaseURL, Self.connectionString) else { return nil }
    self.connectionString = Secret(connectionString)
  }

  /// Tells a connection string from something else entirely; libpq checks the rest when it connects.
  private static func connectionString(_ text: String) throws(UnusableValue) -> String {
    if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") { return text }
    if !text.contains("://"), text.contains("=") { return text }
    throw UnusableValue("not a connection string", expected: "postgresql://user@host/database or keyword=value pairs")
  }
}
