package import Logging
package import Postgres
package import Reactors

/// A process of the service, as histories and operators know it.
package struct ServiceInstance: Equatable, Sendable {
  /// A process without a sign for so long is taken to be dead: six signs are missing.
  package static let silentFrom = Duration.seconds(60)

  /// Eight hexadecimal digits, drawn when the process starts.
  package let id: String

  package let host: String

  package let processID: Int32

  package let version: String

  package init(id: String, host: String, processID: Int32, version: String) {
    self.id = id
    self.host = host
    self.processID = processID
    self.version = version
  }
}

extension PushDatabase {
  /// Says that a process lives, or that it is about to end.
  package func note(
    _ instance: ServiceInstance, isEnding: Bool = false, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .recordInstance(
        instanceID: instance.id, host: instance.host, processID: instance.processID, version: instance.version,
        isEnding: isEnding), on: reactor)
  }
}

extension ServiceInstance {
  /// Other processes of the service on this one's machine, as its database knows them, each with whether it has given a sign of
  /// life in the last minute. A process that leaves the database alone for hours gives none.
  package func neighbours(
    over connection: PostgresConnection, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [(processID: Int32, isRecent: Bool)] {
    var found: [(processID: Int32, isRecent: Bool)] = []
    for row in try await connection.query(.neighbours(host: host), on: reactor) {
      found.append((try row.decode("pid", as: Int32.self), try row.decode("is_recent", as: Bool.self)))
    }
    return found
  }
}

/// Which database this is, and which one its settings were written in: a restored dump brings along what waits elsewhere.
package struct DatabaseIdentity: Equatable, Sendable {
  /// What `tacet migrate` or `tacet adopt` has noted; nil when neither has.
  package let noted: String?
  /// The cluster's system identifier and the database's name.
  package let actual: String

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
