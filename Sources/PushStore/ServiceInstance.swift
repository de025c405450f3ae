public import Postgres
public import Reactors

/// A process of the service, as histories and operators know it.
public struct ServiceInstance: Equatable, Sendable {
  /// Eight hexadecimal digits, drawn when the process starts.
  public let id: String

  /// The machine's name.
  public let host: String

  /// The number of the process on it.
  public let processID: Int32

  /// The program's version.
  public let version: String

  /// Describes a process.
  public init(id: String, host: String, processID: Int32, version: String) {
    self.id = id
    self.host = host
    self.processID = processID
    self.version = version
  }
}

extension PushDatabase {
  /// Says that a process lives.
  public func note(_ instance: ServiceInstance, on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(
      PushStatements.noteInstance,
      [instance.id, instance.host, Int(instance.processID), instance.version], on: reactor)
  }
}

extension PushStatements {
  /// Says that a process lives.
  ///
  /// `$1`: its id. `$2`: its host. `$3`: its process id. `$4`: its version.
  static let noteInstance = PostgresStatement(
    "note_instance",
    """
    insert into tacet.instances as i (id, host, pid, version)
    values ($1, $2, $3::bigint, $4)
    on conflict (id) do update set seen_at = clock_timestamp()
    """,
    [.text, .text, .int8, .text])
}
