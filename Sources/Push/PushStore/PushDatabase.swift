internal import FoundationEssentials
package import Logging
package import Postgres
package import PushRules
internal import Reactors

/// The service's view of the database: claims, records and look-ups, each one round trip.
///
/// Belongs to one reactor, as its pool does. Every call throws ``PostgresError``; one that throws has changed nothing,
/// or, when the connection was lost while it ran, may have changed everything it was to change.
package final class PushDatabase {
  /// Settings that the sessions of the pool must have, because the plans of the statements rely on them.
  ///
  /// Without sequential scans a look-up by place or key is one, however small the planner believes a queue table to be.
  /// A sequential scan that cannot be avoided then counts as expensive enough to be compiled first, which takes longer
  /// than any of the statements.
  package static let sessionSettings = ["enable_seqscan": "off", "jit": "off"]

  /// ``sessionSettings`` and, for the sessions that claim and record, that a statement is planned once.
  ///
  /// Left to itself, the planner believes that it does better for arrays whose lengths it knows, and plans each record of a
  /// few pushes anew, which takes longer than the record and comes to the same plan. What operators look for is planned for
  /// what they have asked.
  ///
  /// Without bitmaps a limited look at the queue stops at its limit. After a vacuum of an emptied queue table the planner
  /// takes a bitmap of its whole index for cheaper, and each claim would then read every dead row.
  ///
  /// Without memoization a badge does without the set-up of a cache whose keys never come twice.
  package static let serviceSettings = sessionSettings.merging(
    ["plan_cache_mode": "force_generic_plan", "enable_bitmapscan": "off", "enable_memoize": "off"]) { $1 }

  /// How long an operator's look may take, the wait for a session included.
  package static let lookLimit = Duration.seconds(2)

  /// Up to which number unread messages are counted unless the caller says otherwise: no icon shows four digits well.
  package static let badgeMaxDefault = 999

  /// How long claims wait after the database's return. Processes record their pushes meanwhile. The server may have
  /// forgotten their claims, and a process that claims first sends again what was accepted.
  package static let recordsFirst = Duration.milliseconds(200)

  let pool: PostgresPool
  let lookLimit: Duration
  let badgeMax: Int

  /// Uses a pool with ``serviceSettings``, or with ``sessionSettings`` for operators, which stays the caller's to close.
  /// - Parameters:
  ///   - lookLimit: how long an operator's look may take.
  ///   - badgeMax: no badge is larger; the pool has ``badgeSettings(max:)``, so that counting stops there.
  package init(pool: PostgresPool, lookLimit: Duration = lookLimit, badgeMax: Int = badgeMaxDefault) {
    self.pool = pool
    self.lookLimit = lookLimit
    self.badgeMax = badgeMax
  }

  /// The types of the host's ids, as sessions have found them.
  package var idTypes: IDTypes { IDTypes(ofSessions: pool.configuration) }

  /// Whether a session has nothing to do, so that a statement would be sent behind no other.
  package var isIdle: Bool { pool.usage.idle > 0 }

  /// The session setting by which `tacet.unread_count` knows how far to count.
  package static func badgeSettings(max: Int) -> [String: String] { ["tacet.badge_max": "\(max)"] }

  func badge(_ unread: Int64) -> Int { min(Int(clamping: max(0, unread)), badgeMax) }
}

/// A statement with its parameters.
///
/// The build makes one of each statement in `db/statements`: the one named `remove_device` becomes
/// `.removeDevice(userID:deviceToken:)`. A call with other parameters than the statement declares does not compile.
struct StatementCall {
  let statement: PostgresStatement
  let parameters: [any PostgresEncodable]

  init(_ statement: PostgresStatement, _ parameters: [any PostgresEncodable]) {
    self.statement = statement
    self.parameters = parameters
  }
}

extension PostgresPool {
  @discardableResult
  func query(
    _ call: StatementCall, within limit: Duration? = nil, afterReturn time: Duration = .zero,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try await query(call.statement, call.parameters, within: limit, afterReturn: time, on: reactor)
  }
}

extension PostgresConnection {
  @discardableResult
  func query(
    _ call: StatementCall, within limit: Duration? = nil, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try await query(call.statement, call.parameters, within: limit, on: reactor)
  }
}

/// What an operator asks, several statements long: they have one session and one deadline.
struct OperatorLook {
  fileprivate let connection: PostgresConnection
  /// Monotonic nanoseconds.
  fileprivate let deadline: UInt64

  /// Runs a statement in what is left of the time.
  ///
  /// A session that does not answer in time is closed: a caller that waits for it would wait for its statement, which the server
  /// ends at its own limit.
  func query(
    _ call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    let now = Reactor.now
    do throws(PostgresError) {
      return try await connection.query(
        call, within: .nanoseconds(deadline - min(now, deadline)), on: reactor)
    } catch {
      if error.code == .timedOut { connection.close(on: reactor) }
      throw error
    }
  }
}

// Looks of operators: nothing is locked, claimed or written, and no claim waits behind them.
extension PushDatabase {
  /// A pool for the looks of operators: one session, opened at the first look, that only reads.
  ///
  /// Looks take turns on it. Callers that wait longer than ``lookLimit`` are refused with ``PostgresError/Code/notConnected``.
  /// - Parameters:
  ///   - database: how the pools of the service connect.
  ///   - limit: how long a statement may take.
  ///   - idleLimit: after how long without a look the session is closed; nil keeps it.
  package static func operatorPool(
    _ database: PostgresConfiguration, limit: Duration = lookLimit, idleLimit: Duration? = nil, logger: Logger
  ) -> PostgresPool {
    var database = database
    database.applicationName = "tacet operators"
    database.statementLimit = limit
    database.answerLimit = limit
    database.forbidWrites()
    return PostgresPool(
      database, size: 1, acquireLimit: lookLimit, opensOnDemand: true, idleLimit: idleLimit, logger: logger)
  }

  /// Runs statements of an operator on a session that no other caller uses meanwhile.
  func look<Value>(
    on reactor: isolated Reactor, _ body: (OperatorLook) async throws -> Value
  ) async throws -> Value {
    let deadline = Reactor.now + lookLimit.clampedNanoseconds
    return try await pool.withConnection(on: reactor) { connection in
      try await body(OperatorLook(connection: connection, deadline: deadline))
    }
  }
}

/// A column of JSON, read as a type.
struct ExplainedDocument<Content: Decodable>: PostgresDecodable {
  let content: Content

  init?(_ field: PostgresField) {
    guard let text = String(field), let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8)) else {
      return nil
    }
    self.content = content
  }
}

extension PostgresConfiguration {
  package mutating func forbidWrites() {
    // Behind a pooler the settings come inside each transaction, which the default would not reach any more.
    settings[poolMode == .transaction ? "transaction_read_only" : "default_transaction_read_only"] = "on"
  }
}

extension PostgresError {
  /// Whether the statement or its data is at fault: the server would refuse it again, and others may be taken.
  ///
  /// Not so: what the server lacks or is going through (classes 53 to 58, except for a statement that took too long or
  /// went beyond a limit of PostgreSQL, such as the depth of its stack), what other transactions did (40, 55), and the
  /// state of the session (08, 25, 26).
  package var blamesStatement: Bool {
    guard code == .server, let sqlState else { return code == .decoding || code == .invalidParameter }
    if sqlState == .queryCanceled { return true }
    return !["08", "25", "26", "40", "53", "55", "57", "58"].contains(String(sqlState.conditionClass))
  }

  /// Whether the server would refuse it however often it is tried. One that took too long may have waited for a lock of
  /// the host.
  package var isRefusal: Bool { blamesStatement && sqlState != .queryCanceled }

  /// Whether nothing is known of the statement, because the way to the server failed.
  package var concernsConnection: Bool {
    switch code {
    case .server, .decoding, .invalidParameter: false
    case .connectionLost, .timedOut, .deaf, .foreignDatabase, .notConnected, .tooManyPending, .invalidConfiguration:
      true
    }
  }
}

extension PostgresError {
  /// What an operator has to know to mend a function of the host, without values: the failure with its SQLSTATE, the
  /// function that was running, and what it asked for in vain.
  package var logged: Logger.Metadata {
    var metadata: Logger.Metadata = ["error": "\(self)"]
    if let function = self.function { metadata["function"] = "\(function)" }
    if let missingObject { metadata["cause"] = "\(missingObject)" }
    return metadata
  }
}
