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

  /// Applies what is missing, in order, while no other migrator can.
  ///
  /// Each file is one transaction. One that fails changes nothing, and the ones after it are not tried.
  /// - Parameter report: called for each migration after its transaction.
  /// - Throws: ``PostgresError``, of the connection or of the failing file.
  public static func run(
    _ migrations: [Migration] = Migration.all, in configuration: PostgresConfiguration, logger: Logger,
    on reactor: isolated Reactor, report: (Migration, Outcome) -> Void
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
        try await apply(migration, over: connection, on: reactor)
        report(migration, .applied)
      }
    }
  }

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
    _ migration: Migration, over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    do throws(PostgresError) {
      try await connection.simple("begin;\n\(migration.sql)\ncommit;", on: reactor)
    } catch {
      try? await connection.simple("rollback", on: reactor)
      throw error
    }
  }
}
