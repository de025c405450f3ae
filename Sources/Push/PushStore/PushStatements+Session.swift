internal import Postgres

// Advisory locks are numbered by two integers; the first is ours, `tace` in ASCII.
extension PushStatements {
  /// Says that the service is awake: triggers that find the lock taken do not notify. Waits for transactions that are
  /// about to notify; no new one can get in their queue. Belongs to the session that asks, and ends with it.
  static let lockAwake = PostgresStatement("lock_awake", "select pg_advisory_lock(1952539493, 1)")

  /// Says that the service needs to be notified again.
  static let unlockAwake = PostgresStatement("unlock_awake", "select pg_advisory_unlock(1952539493, 1)")

  /// What a listener must hear: a token on a channel of its own, sent by another session than the one that listens. It waits
  /// for the disk, as the host's commits do, so that it takes as long as theirs when they notify.
  static let sendProbe = PostgresStatement(
    "send_probe", "select set_config('synchronous_commit', 'on', true), pg_notify($1, $2)", [.text, .text])

  /// Says for half a minute more that the service listens; triggers do not notify when nobody does. Every listener says
  /// it every few seconds; who finds it said just now leaves the row alone.
  static let noteListening = PostgresStatement(
    "note_listening",
    """
    update tacet.settings s
    set listening_until = clock_timestamp() + interval '30 seconds'
    where s.listening_until is null or s.listening_until < clock_timestamp() + interval '25 seconds'
    """)

  /// Keeps a second migrator waiting.
  static let lockMigrations = PostgresStatement("lock_migrations", "select pg_advisory_lock(1952539493, 2)")

  /// Whether any migration was ever applied.
  static let hasMigrations = PostgresStatement(
    "has_migrations", "select to_regclass('tacet.migrations') is not null")

  /// The versions that were applied.
  static let appliedMigrations = PostgresStatement(
    "applied_migrations", "select version from tacet.migrations")
}
