internal import FoundationEssentials
package import Logging
package import Postgres
internal import Reactors

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
