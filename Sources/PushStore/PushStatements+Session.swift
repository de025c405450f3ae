internal import Postgres

// Advisory locks are numbered by two integers; the first is ours, `tace` in ASCII.
extension PushStatements {
  /// Says that the service is awake: triggers that find the lock taken do not notify. Waits for transactions that are
  /// about to notify; no new one can get in their queue. Belongs to the session that asks, and ends with it.
  static let lockAwake = PostgresStatement("lock_awake", "select pg_advisory_lock(1952539493, 1)")

  /// Says that the service needs to be notified again.
  static let unlockAwake = PostgresStatement("unlock_awake", "select pg_advisory_unlock(1952539493, 1)")

  /// Keeps a second migrator waiting.
  static let lockMigrations = PostgresStatement("lock_migrations", "select pg_advisory_lock(1952539493, 2)")

  /// Whether any migration was ever applied.
  static let hasMigrations = PostgresStatement(
    "has_migrations", "select to_regclass('tacet.migrations') is not null")

  /// The versions that were applied.
  static let appliedMigrations = PostgresStatement(
    "applied_migrations", "select version from tacet.migrations")
}
