package import Logging
package import Postgres
package import Reactors

/// Which database this is, and which one its settings were written in: a restored dump brings along what waits elsewhere.
package struct DatabaseIdentity: Equatable, Sendable {
  /// What `tacet migrate` or `tacet adopt` has noted; nil when neither has.
  package let noted: String?
  /// The cluster's system identifier and the database's name.
  package let actual: String

  package init(noted: String?, actual: String) {
    self.noted = noted
    self.actual = actual
  }

  package var isForeign: Bool { noted.map { $0 != actual } ?? false }

  /// Asks a database.
  /// - Returns: nil where row-level security hides the settings.
  /// - Throws: ``PostgresError``, also where the migrations that say so are missing.
  package static func look(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> DatabaseIdentity? {
    for row in try await connection.query(.databaseIdentity, on: reactor) {
      return DatabaseIdentity(noted: try row.decode("recorded"), actual: try row.decode("actual"))
    }
    return nil
  }

  /// Makes a database its own: notes its identity and drops what waits to be pushed, unless that is to be kept.
  /// - Returns: the tables from which rows were dropped, and how many.
  package static func adopt(
    keepingWaiting: Bool, in configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(table: String, dropped: Int64)] {
    var configuration = configuration
    configuration.applicationName = "tacet adopt"
    configuration.statementLimit = nil
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    var counts: [(table: String, dropped: Int64)] = []
    for row in try await connection.query(.adoptDatabase(keepsWaiting: keepingWaiting), on: reactor) {
      counts.append((table: try row.decode("what"), dropped: try row.decode("dropped")))
    }
    return counts
  }
}

extension PushDatabase {
  /// Keeps sessions from working in a database that is a copy of another one.
  package static let ownDatabaseCheck = PushStatements.isOwnDatabase
}
