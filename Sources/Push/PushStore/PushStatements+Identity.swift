internal import Postgres

extension PushStatements {
  /// Which database the settings were written in, and which one this is. No row where row-level security hides it.
  static let databaseIdentity = PostgresStatement(
    "database_identity", "select s.database_identity, tacet.database_identity() from tacet.settings s")

  /// Whether a session may work here; also where nobody has said which database it is.
  static let isOwnDatabase = PostgresStatement(
    "is_own_database",
    "select coalesce((select s.database_identity = tacet.database_identity() from tacet.settings s), true)")

  /// Says which database this is, unless that was said before.
  static let noteIdentity = PostgresStatement(
    "note_identity",
    """
    update tacet.settings s set database_identity = tacet.database_identity() where s.database_identity is null
    """)

  /// Makes the database its own, with or without what waits.
  static let adoptDatabase = PostgresStatement(
    "adopt_database", "select a.what, a.dropped from tacet.adopt_database($1) a", [.bool])
}
