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
