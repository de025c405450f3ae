package import Postgres
package import Reactors

package struct AppliedMigration: Equatable, Sendable {
  package let version: Int

  /// The file's name without its ending.
  package let name: String

  /// The newest migration that a service beside it must know; nil for any service.
  package let oldestService: Int?

  package init(version: Int, name: String, oldestService: Int? = nil) {
    self.version = version
    self.name = name
    self.oldestService = oldestService
  }

  /// All of a database, in order; nil without Tacet's schema, and empty where row-level security hides them.
  static func all(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [AppliedMigration]? {
    let rows = try await connection.query(PushStatements.hasMigrations, on: reactor)
    guard try rows.one().decode(0, as: Bool.self) else { return nil }
    var applied: [AppliedMigration] = []
    for row in try await connection.query(PushStatements.appliedMigrations, on: reactor) {
      let oldest = try row.decode("oldest_service", as: Int32?.self)
      applied.append(
        AppliedMigration(
          version: Int(try row.decode("version", as: Int32.self)), name: try row.decode("name"),
          oldestService: oldest.map(Int.init)))
    }
    return applied
  }
}

/// Whether a service can work with a database's schema.
package enum SchemaSupport: Equatable, Sendable {
  case supported

  /// The database has a schema from before the first release, which lacks the baseline and cannot be upgraded.
  case unreleased

  /// The database lacks these migrations, by name.
  case tooOld(missing: [String])

  /// The database has a migration that needs a service which knows another one.
  case tooNew(version: Int, oldestService: Int)

  /// - Parameters:
  ///   - applied: the database's migrations.
  ///   - known: the service's, in order.
  package init(applied: [AppliedMigration], known: [Migration] = Migration.all) {
    let names = Set(applied.map(\.name))
    let missing = known.map(\.name).filter { !names.contains($0) }
    let newest = known.last?.version ?? 0
    let beyond = applied.first { $0.version > newest && ($0.oldestService ?? 0) > newest }
    if !applied.isEmpty, missing.first == known.first?.name {
      self = .unreleased
    } else if let beyond, let oldest = beyond.oldestService {
      self = .tooNew(version: beyond.version, oldestService: oldest)
    } else {
      self = missing.isEmpty ? .supported : .tooOld(missing: missing)
    }
  }

  /// Asks a database.
  /// - Returns: nil where row-level security hides the answer.
  package static func look(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SchemaSupport? {
    let applied = try await AppliedMigration.all(over: connection, on: reactor)
    return applied?.isEmpty == true ? nil : SchemaSupport(applied: applied ?? [])
  }
}
