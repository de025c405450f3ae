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
  }

  /// The SQLSTATE by which a migration refuses a host that it cannot serve. The error's message then says what is wrong,
  /// and what to do, without any value of a row.
  public static let notWired: SQLState = "TC001"

  /// Applies what is missing, in order, while no other migrator can.
  ///
  /// Each file is one transaction. One that fails changes nothing, and the ones after it are not tried.
  /// - Parameters:
  ///   - createsHostTables: whether to create the host's tables that are missing, together with the first migration.
  ///   - report: called for each migration after its transaction.
  /// - Throws: ``PostgresError``, of the connection or of the failing file.
  public static func run(
    _ migrations: [Migration] = Migration.all, in configuration: PostgresConfiguration, createsHostTables: Bool,
    logger: Logger, on reactor: isolated Reactor, report: (Migration, Outcome) -> Void
  ) async throws(PostgresError) {
    var configuration = configuration
    configuration.applicationName = "tacet migrate"
    configuration.statementLimit = nil
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    try await connection.query(PushStatements.lockMigrations, on: reactor)
    let applied = try await appliedVersions(over: connection, on: reactor)
    for migration in migrations {
      if applied.contains(migration.version) {
        report(migration, .alreadyApplied)
      } else {
        let tables = createsHostTables && migration.version == 1 ? Migration.hostTables : ""
        try await apply(tables + migration.sql, over: connection, on: reactor)
        report(migration, .applied)
      }
    }
    try await connection.simple(learnTimeZones, on: reactor)
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
      try await connection.simple("begin;\n\(sql)\ncommit;", on: reactor)
    } catch {
      try? await connection.simple("rollback", on: reactor)
      throw error
    }
  }
}
