public import Postgres
public import Reactors

/// A process of the service, as histories and operators know it.
public struct ServiceInstance: Equatable, Sendable {
  /// Whoever has said nothing for so long is taken to be dead: six of its signs are missing.
  public static let silentFrom = Duration.seconds(60)

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
  /// Says that a process lives, or that it is about to end.
  public func note(
    _ instance: ServiceInstance, isEnding: Bool = false, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    _ = try await pool.query(
      PushStatements.noteInstance,
      [instance.id, instance.host, Int(instance.processID), instance.version, isEnding], on: reactor)
  }
}

extension PushStatements {
  /// Says that a process lives, or that it is about to end.
  ///
  /// `$1`: its id. `$2`: its host. `$3`: its process id. `$4`: its version. `$5`: whether it is about to end.
  static let noteInstance = PostgresStatement(
    "note_instance",
    """
    insert into tacet.instances as i (id, host, pid, version, stopped_at)
    values ($1, $2, $3::bigint, $4, case when $5 then clock_timestamp() end)
    on conflict (id) do update set seen_at = clock_timestamp(), stopped_at = excluded.stopped_at
    """,
    [.text, .text, .int8, .text, .bool])
}
