internal import Glibc
package import Logging
package import Postgres
internal import PushRules
package import Reactors

/// Examines whether the service can work with a database; changes nothing.
///
/// Every statement is read-only, short and bounded, waits for no lock longer than a second, and is sent so that it works
/// through any pooler. Each method throws ``PostgresError``; the next one can be called all the same.
package final class DatabaseExamination {
  /// How long one statement may take. A healthy database answers each within some milliseconds.
  private static let statementLimit = Duration.seconds(3)

  let connection: PostgresConnection

  /// Uses a connection that stays the caller's to close.
  init(over connection: PostgresConnection) {
    self.connection = connection
  }

  /// Connects.
  /// - Parameters:
  ///   - conninfo: how the service reaches its database.
  ///   - limit: the time for it.
  package static func begin(
    _ conninfo: String, within limit: Duration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> DatabaseExamination {
    let connection = try await PostgresConnection.connect(
      configuration(conninfo, within: limit), logger: logger, on: reactor)
    do throws(PostgresError) {
      try await IDTypes.look(over: connection, on: reactor)
    } catch {
      connection.close(on: reactor)
      throw error
    }
    return DatabaseExamination(over: connection)
  }

  private static func configuration(_ conninfo: String, within limit: Duration) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet doctor"
    configuration.poolMode = .transaction
    configuration.connectLimit = limit
    configuration.statementLimit = statementLimit
    configuration.answerLimit = statementLimit + .seconds(1)
    configuration.settings = PushDatabase.sessionSettings.merging(
      ["transaction_read_only": "on", "lock_timeout": "1s"]) { $1 }
    return configuration
  }

  package func end(on reactor: isolated Reactor) {
    connection.close(on: reactor)
  }

  /// The host that was reached, as the connection string names it; a folder for a Unix socket.
  package var host: String { connection.host }

  package func server(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedServer {
    let row = try await connection.query(.examineServer, on: reactor).one()
    return ExaminedServer(
      version: try row.decode("version"), isStandby: try row.decode("is_standby"),
      isReadOnly: try row.decode("is_read_only"),
      isPooled: try row.decode("backend_id", as: Int64.self) != Int64(connection.backendID),
      role: try row.decode("role"), replicationRole: try row.decode("replication_role"))
  }

  /// Compares the wall clocks: of three measurements the one with the shortest round trip.
  package func clock(on reactor: isolated Reactor) async throws(PostgresError) -> ClockComparison {
    var best: ClockComparison?
    for _ in 0..<3 {
      let (start, startWall) = (Reactor.now, Self.wallMicroseconds())
      let rows = try await connection.query(.examineClock, on: reactor)
      let half = Int64((Reactor.now - start) / 2000)
      let there = try rows.one().decode(0, as: Int64.self)
      if let best, best.uncertainty <= .microseconds(half) { continue }
      best = ClockComparison(
        difference: .microseconds(there - startWall - half), uncertainty: .microseconds(half))
    }
    guard let best else { preconditionFailure("three measurements gave none") }
    return best
  }

  /// The migrations that were applied, in order.
  package func appliedMigrations(on reactor: isolated Reactor) async throws(PostgresError) -> [AppliedMigration] {
    try await AppliedMigration.all(over: connection, on: reactor) ?? []
  }

  /// Names of migrations that `tacet migrate` has applied with another text than this program's. Those that psql has
  /// applied are not among them, because that leaves no checksums.
  package func changedMigrations(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    let known = Migration.all
    let types = IDTypes(ofSessions: connection.configuration)
    let call = StatementCall.examineMigrations(
      versions: known.map { Int32($0.version) }, texts: known.map { $0.written(with: types).sql })
    return try await rows(call, on: reactor) { row throws(PostgresError) in try row.decode("name") }
  }

  /// What the role may not do and should.
  package func missingRights(on reactor: isolated Reactor) async throws(PostgresError) -> [MissingRight] {
    try await rows(.examineRights, on: reactor) { row throws(PostgresError) in
      MissingRight(
        object: try row.decode("object"), privilege: try row.decode("privilege"), isOwn: try row.decode("is_own"))
    }
  }

  /// Who can read or write device tokens and should not; `public` is everybody. At most 20.
  package func tokenAccess(on reactor: isolated Reactor) async throws(PostgresError) -> [TokenAccess] {
    try await rows(.examineTokenAccess, on: reactor) { row throws(PostgresError) in
      TokenAccess(role: try row.decode("rolname"), privileges: try row.decode("privileges"))
    }
  }

  /// Runs a function of the host contract for a user who does not exist.
  /// - Throws: what the function fails with.
  package func call(_ function: HostFunction, on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.query(function.call, on: reactor)
  }

  /// The tables of the default host that the host contract reads, without their schema.
  package func contractTables(on reactor: isolated Reactor) async throws(PostgresError) -> Set<String> {
    Set(
      try await rows(.examineContractTables, on: reactor) { row throws(PostgresError) in
        try row.decode(0, as: String.self)
      })
  }

  /// Plays a message through the host contract, in a session that may write, and undoes it.
  /// - Parameters:
  ///   - conninfo: how the service reaches its database. limit: the time for connecting.
  package static func rehearseMessage(
    _ conninfo: String, within limit: Duration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContractTrial] {
    var configuration = configuration(conninfo, within: limit)
    configuration.settings["transaction_read_only"] = "off"
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    defer { connection.close(on: reactor) }
    return try ContractTrial.trials(
      from: try await connection.query(.rehearseMessage(isInserted: true), on: reactor))
  }

  func rows<Value>(
    _ call: StatementCall, on reactor: isolated Reactor,
    _ read: (PostgresRow) throws(PostgresError) -> Value
  ) async throws(PostgresError) -> [Value] {
    var values: [Value] = []
    for row in try await connection.query(call, on: reactor) { values.append(try read(row)) }
    return values
  }

  private static func wallMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
