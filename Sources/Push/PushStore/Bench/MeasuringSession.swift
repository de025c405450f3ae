public import Logging
public import Postgres
public import PushKinds
public import Reactors

/// A session that does what claims read, and measures it. Writes nothing and notifies no session.
///
/// Everything is asked inside ``undone(on:_:)``. Each call throws ``PostgresError``, and the transaction that it was in is of no
/// use then. A function that writes is refused with ``SQLState/readOnlyTransaction``, which ends the session.
public final class MeasuringSession {
  /// Members of a conversation whose functions are measured.
  public static let usersMax = 100

  /// No statement of the service takes longer; the server ends it.
  public static let statementLimitMax = Duration.seconds(5)

  let connection: PostgresConnection

  private init(over connection: PostgresConnection) {
    self.connection = connection
  }

  /// Connects, with the settings of the service's sessions: their plans depend on them.
  /// - Parameters:
  ///   - isPooled: whether a pooler lends sessions for a transaction.
  ///   - limit: for each statement; at most ``statementLimitMax``.
  public static func begin(
    _ conninfo: String, isPooled: Bool, within limit: Duration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> MeasuringSession {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet bench"
    configuration.poolMode = isPooled ? .transaction : .session
    configuration.statementLimit = min(limit, statementLimitMax)
    configuration.settings = PushDatabase.serviceSettings.merging(["lock_timeout": "1s"]) { $1 }
    configuration.forbidWrites()
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    do throws(PostgresError) {
      try await IDTypes.look(over: connection, on: reactor)
    } catch {
      connection.close(on: reactor)
      throw error
    }
    return MeasuringSession(over: connection)
  }

  /// Ends the session.
  public func end(on reactor: isolated Reactor) { connection.close(on: reactor) }

  /// Whether it can be asked more.
  public var isOpen: Bool { connection.isOpen }

  /// The host that was reached, as the connection string names it; a folder for a Unix socket.
  public var host: String { connection.host }

  /// Runs `body` in a transaction that ends with ROLLBACK.
  public func undone<Value>(on reactor: isolated Reactor, _ body: () async throws -> Value) async throws -> Value {
    try await connection.withRollback(on: reactor, body)
  }

  /// Who answers, and as whom it is asked.
  public func server(on reactor: isolated Reactor) async throws(PostgresError) -> MeasuredServer {
    let row = try await connection.query(.measureServer, on: reactor).one()
    return MeasuredServer(
      version: try row.decode("version"), isStandby: try row.decode("is_standby"), role: try row.decode("role"),
      bypassesRowSecurity: try row.decode("bypasses_row_security"), ownsSchema: try row.decode("owns_schema"),
      mayServe: try row.decode("may_serve"), isMigrated: try row.decode("is_migrated"),
      mayCall: try row.decode("may_call"))
  }

  /// How long a statement that does nothing takes, in nanoseconds of this machine's clock.
  public func roundTrip(on reactor: isolated Reactor) async throws(PostgresError) -> Int64 {
    let start = Reactor.now
    try await connection.query(.measureRoundTrip, on: reactor)
    return Int64(Reactor.now - start)
  }

  /// Reads a message as a claim does.
  public func read(_ message: HostID, on reactor: isolated Reactor) async throws(PostgresError) -> MessageReading {
    let start = Reactor.now
    let rows = try await connection.query(
      .readMessage(subjectID: message, recipientsMax: ClaimLimits.recipientsMaxDefault), on: reactor)
    return MessageReading(nanoseconds: Int64(Reactor.now - start), rows: rows)
  }
}

/// The server of a ``MeasuringSession``, and the session's role.
public struct MeasuredServer: Equatable, Sendable {
  /// As PostgreSQL numbers itself, e.g. 150006 for 15.6.
  public let version: Int
  /// Whether it only follows another server.
  public let isStandby: Bool
  /// The role of the session.
  public let role: String
  /// Whether row-level security does not apply to the role.
  public let bypassesRowSecurity: Bool
  /// Whether the role has the rights of the one that migrates.
  public let ownsSchema: Bool
  /// Whether the role may claim, as only a service does.
  public let mayServe: Bool
  /// Whether there is a host contract.
  public let isMigrated: Bool
  /// Whether the role may call it.
  public let mayCall: Bool

  /// Notes what a server said.
  public init(
    version: Int, isStandby: Bool = false, role: String, bypassesRowSecurity: Bool = false, ownsSchema: Bool,
    mayServe: Bool, isMigrated: Bool = true, mayCall: Bool = true
  ) {
    self.version = version
    self.isStandby = isStandby
    self.role = role
    self.bypassesRowSecurity = bypassesRowSecurity
    self.ownsSchema = ownsSchema
    self.mayServe = mayServe
    self.isMigrated = isMigrated
    self.mayCall = mayCall
  }
}

/// A message as a claim reads it, at most ``ClaimLimits/recipientsMaxDefault`` recipients of it.
public struct MessageReading: Sendable {
  /// From the question to the last row, by this machine's clock.
  public let nanoseconds: Int64
  private let rows: PostgresRows

  init(nanoseconds: Int64, rows: PostgresRows) {
    self.nanoseconds = nanoseconds
    self.rows = rows
  }

  /// Recipients, and their targets together. Zero of both for a message that is gone, or has no reader but its sender.
  public func counts() throws(PostgresError) -> (recipients: Int, targets: Int) {
    var counts = (recipients: 0, targets: 0)
    for row in rows where try row.decode("user_id", as: HostID?.self) != nil {
      counts.recipients += 1
      counts.targets += try row.decode("channels", as: [String]?.self)?.count ?? 0
    }
    return counts
  }
}
