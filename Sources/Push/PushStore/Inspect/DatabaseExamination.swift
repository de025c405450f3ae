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
    return try await rows(call, on: reactor)
  }

  /// What the role may not do and should.
  package func missingRights(on reactor: isolated Reactor) async throws(PostgresError) -> [MissingRight] {
    try await rows(.examineRights, on: reactor)
  }

  /// Who can read or write device tokens and should not; `public` is everybody. At most 20.
  package func tokenAccess(on reactor: isolated Reactor) async throws(PostgresError) -> [TokenAccess] {
    try await rows(.examineTokenAccess, on: reactor)
  }

  /// Runs a function of the host contract for a user who does not exist.
  /// - Throws: what the function fails with.
  package func call(_ function: HostFunction, on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.query(.callWithNulls(function: function.rawValue), on: reactor)
  }

  /// The tables of the default host that the host contract reads, without their schema.
  package func contractTables(on reactor: isolated Reactor) async throws(PostgresError) -> Set<String> {
    Set(try await rows(.examineContractTables, on: reactor))
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

  func rows<Value: Decodable>(_ call: StatementCall, on reactor: isolated Reactor) async throws(PostgresError)
    -> [Value]
  {
    try await connection.query(call, on: reactor).decoded()
  }

  func row<Value: Decodable>(_ call: StatementCall, on reactor: isolated Reactor) async throws(PostgresError) -> Value {
    try await connection.query(call, on: reactor).one().decoded()
  }

  private static func wallMicroseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

/// What campaigns have left undone.
package struct ExaminedCampaignWork: Equatable, Sendable, Decodable {
  /// Hours that came ten minutes ago or earlier and were not served.
  package var unservedHours = 0
  /// Users who were enrolled ten minutes ago or earlier and are undecided.
  package var undecided = 0
  /// Decisions of the last day that failed.
  package var failed = 0
}

/// What language models have used on the present day of UTC, with what is set aside for calls under way.
package struct ExaminedModelUsage: Equatable, Sendable, Decodable {
  /// Tokens, read and written.
  package var tokens: Int = 0
  package var microdollars: Int = 0
}

/// A name of a time zone that the server has lost since it was noted.
package struct LostZone: Equatable, Sendable, Decodable {
  package let name: String
  /// The zone that users there have instead; nil for UTC.
  package let standIn: String?
}

// Pushes that no event asks for.
extension DatabaseExamination {
  /// The campaigns that are active.
  package func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    try await connection.query(.campaigns, on: reactor).map(StoredCampaign.init)
  }

  /// Calls the functions of a campaign for a user who does not exist.
  package func call(_ campaign: StoredCampaign, on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.query(.examineCampaign(campaign: campaign.name), on: reactor)
  }

  /// What is undone.
  /// - Parameter minutes: after midnight, where a campaign names no time.
  package func campaignWork(
    minutes: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ExaminedCampaignWork {
    try await row(.examineCampaignWork(minutes: Int32(clamping: minutes)), on: reactor)
  }

  /// The zones that the server has lost, by name.
  package func lostZones(on reactor: isolated Reactor) async throws(PostgresError) -> [LostZone] {
    try await rows(.examineZones, on: reactor)
  }

  package func modelUsage(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedModelUsage {
    try await row(.examineModelUsage, on: reactor)
  }
}

// The tables of the application.
extension DatabaseExamination {
  /// Of all tables together. A catalog with more is read by the beginning of the alphabet.
  package static let hostColumnsMax = 5000

  private struct HostTable: Decodable {
    let count: Int
    let encoding: String
    let document: String
  }

  /// The host's tables and views in the order of their names, the columns that hide rows, and the tables of blocks: one JSON document
  /// of three lists, as the statement `examine_host` and `db/functions/applying_to_hosts.sql` say.
  /// - Returns: also how many tables `hostColumnsMax` leaves out.
  package func hostTables(
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> (document: String, leftOut: Int) {
    let tables: [HostTable] = try await rows(.examineHost(columnsMax: Self.hostColumnsMax), on: reactor)
    if let encoding = tables.first?.encoding, encoding != "UTF8" {
      throw await connection.refusal(ofEncoding: encoding, on: reactor)
    }
    let hidden = try await HiddenRows.look(at: [], over: connection, on: reactor)
    func list(_ documents: [String]) -> String { "[\(documents.joined(separator: ","))]" }
    let document = """
      {"tables": \(list(tables.map(\.document))), "hiding": \(list(hidden.columns)), "blocks": \(list(hidden.blocks))}
      """
    return (document, (tables.first?.count ?? 0) - tables.count)
  }

  /// Begins a transaction that may write until its first question; ``rollback(on:)`` or the end of the session undoes it.
  package func begin(on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.simple("begin read write", on: reactor)
  }

  package func rollback(on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.simple("rollback", on: reactor)
  }

  /// Runs a script in the transaction, which goes on as if it had not when it fails.
  /// - Parameter role: with whose rights, as SQL names it; nil for the session's.
  package func run(
    _ script: String, as role: String?, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await connection.simple("savepoint trial; set local role \(role ?? "none")", on: reactor)
    do throws(PostgresError) {
      try await connection.simple("\(script); set local role none", on: reactor)
    } catch {
      try await connection.simple("rollback to savepoint trial", on: reactor)
      throw error
    }
  }

  /// The text that a statement returns in the transaction; nil without a row.
  /// - Parameter role: with whose rights, as SQL names it; nil for the session's.
  package func hostText(
    _ sql: String, as role: String?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> String? {
    let text: String?
    do throws(PostgresError) {
      try await connection.simple("savepoint trial; set local role \(role ?? "none")", on: reactor)
      text = try await hostText(sql, on: reactor)
    } catch {
      try await connection.simple("rollback to savepoint trial", on: reactor)
      throw error
    }
    try await connection.simple("rollback to savepoint trial", on: reactor)
    return text
  }

  /// The text that a statement about the host's own tables returns; nil without a row.
  package func hostText(_ sql: String, on reactor: isolated Reactor) async throws(PostgresError) -> String? {
    guard let row = try await connection.query(PostgresStatement("host_text", sql), on: reactor).first else {
      return nil
    }
    return try row.decode(0)
  }
}

package struct ExaminedActivityType: Equatable, Sendable, Decodable {
  /// The name of its attributes in Swift.
  package let name: String
  /// Why no document of it can be made; nil for a type without a fault.
  package var fault: String?
}

// Live Activities.
extension DatabaseExamination {
  /// The types of Live Activities, and what is wrong with them; 1000 at most.
  package func activityTypes(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedActivityType] {
    try await rows(.examineActivityTypes, on: reactor)
  }
}

// Content that is sealed for devices.
extension DatabaseExamination {
  /// How many devices have registered a key; of the first 200,000 of each kind.
  package func sealingKeys(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await row(.examineSealingKeys, on: reactor)
  }
}

/// A text of a watched kind in another locale.
package struct ExaminedText: Equatable, Sendable, Decodable {
  package let kind: String
  package let locale: String
  package var isUnwatched: Bool = false
  /// A column in braces that the kind's own texts do not have; nil for none.
  package var missingColumn: String?
}

// Texts in other locales.
extension DatabaseExamination {
  /// The texts of watched kinds, by kind and locale; 3000 at most.
  package func texts(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedText] {
    try await rows(.examineTexts, on: reactor)
  }
}
