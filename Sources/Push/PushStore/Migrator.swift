public import Logging
public import Postgres
public import Reactors

/// Brings a database's schema up to date.
public enum Migrator {
  /// What became of one migration.
  public enum Outcome: Sendable {
    /// Applied now, in a transaction of its own.
    case applied
    /// Applied earlier, by this program or by hand.
    case alreadyApplied
    /// Not applied yet: another transaction holds a lock that it needs. It is tried again.
    case waiting
  }

  /// The SQLSTATE by which a migration refuses a host that it cannot serve. The error's message then says what is wrong,
  /// and what to do, without any value of a row.
  public static let notWired: SQLState = "TC001"

  /// How long a migration waits for a lock, because whoever wants the table after it waits as long: the host's inserts.
  private static let lockLimit = Duration.seconds(2)

  /// How long to let others work before the next try; one more try than pauses.
  private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(3), .seconds(4)]

  /// Applies what is missing, in order, while no other migrator can.
  ///
  /// Each file is one transaction. One that fails changes nothing, and the ones after it are not tried. One that does not
  /// get a lock within two seconds is tried five times. Notes at the end which database it is, unless that is known.
  /// - Parameters:
  ///   - createsHostTables: whether to create the host's tables that are missing, together with the first migration.
  ///   - notice: called with what a migration raises or the server warns of: what the host has to do itself.
  ///   - report: called for each migration after its transaction, and before another try.
  /// - Throws: ``PostgresError``, of the connection or of the failing file; SQLSTATE 55P03 after the last try for a lock.
  public static func run(
    _ migrations: [Migration] = Migration.all, in configuration: PostgresConfiguration, createsHostTables: Bool,
    logger: Logger, on reactor: isolated Reactor, notice: (@Sendable (String) -> Void)? = nil,
    report: (Migration, Outcome) -> Void
  ) async throws(PostgresError) {
    var configuration = configuration
    configuration.applicationName = "tacet migrate"
    configuration.statementLimit = nil
    configuration.noticeHandler = notice
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    try await connection.query(PushStatements.lockMigrations, on: reactor)
    let applied = try await appliedVersions(over: connection, on: reactor)
    for migration in migrations {
      if applied.contains(migration.version) {
        report(migration, .alreadyApplied)
      } else {
        let tables = createsHostTables && migration.version == 1 ? Migration.hostTables : ""
        try await applyPatiently(tables + migration.sql, over: connection, on: reactor) { report(migration, .waiting) }
        report(migration, .applied)
      }
    }
    try await connection.simple(learnTimeZones, on: reactor)
    if migrations.last?.version == Migration.all.last?.version {
      try await connection.query(PushStatements.noteIdentity, on: reactor)
    }
  }

  private static func applyPatiently(
    _ sql: String, over connection: PostgresConnection, on reactor: isolated Reactor, reportWaiting: () -> Void
  ) async throws(PostgresError) {
    for pause in pauses {
      do throws(PostgresError) {
        return try await apply(sql, over: connection, on: reactor)
      } catch  where error.sqlState == .lockNotAvailable {
        reportWaiting()
        await reactor.sleep(for: pause)
      }
    }
    try await apply(sql, over: connection, on: reactor)
  }

  /// The server's tz database may have grown since the migration that read it.
  private static let learnTimeZones = """
    do $$
    begin
      if to_regprocedure('tacet.learn_time_zones()') is not null then
        perform tacet.learn_time_zones();
      end if;
    end
    $$
    """

  private static func appliedVersions(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Set<Int> {
    let rows = try await connection.query(PushStatements.hasMigrations, on: reactor)
    guard try rows.one().decode(0, as: Bool.self) else { return [] }
    var versions: Set<Int> = []
    for row in try await connection.query(PushStatements.appliedMigrations, on: reactor) {
      versions.insert(Int(try row.decode(0, as: Int32.self)))
    }
    return versions
  }

  private static func apply(
    _ sql: String, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    do throws(PostgresError) {
      try await connection.simple(
        "begin;\nset local lock_timeout = '\(lockLimit.components.seconds) s';\n\(sql)\ncommit;", on: reactor)
    } catch {
      try? await connection.simple("rollback", on: reactor)
      throw error
    }
  }
}
