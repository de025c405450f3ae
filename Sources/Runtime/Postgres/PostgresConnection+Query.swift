internal import CLibpq
internal import DequeModule
public import Reactors

extension PostgresConnection {
  /// Runs a statement, preparing it first where this session has not yet.
  ///
  /// Goes out in this tick and is answered after everything sent before it.
  /// - Parameter limit: how long to wait for the answer; nil takes the configuration's `answerLimit`.
  /// - Throws: ``PostgresError``. After ``PostgresError/Code/connectionLost`` and ``PostgresError/Code/timedOut`` the
  ///   statement may have taken effect; after any other it has not, and the connection can be used on.
  @discardableResult
  public func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try checkRoom(for: statement)
    try encoder.encode(parameters, for: statement)
    if configuration.poolMode == .transaction {
      return try await queryWhole(statement, within: limit, on: reactor)
    }
    let isPreparing = try sendParseIfNeeded(statement, on: reactor)
    let isSent = encoder.withArguments { values, lengths, formats, count in
      PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1) == 1
    }
    guard isSent else { throw broken(on: reactor) }
    return try await answer(to: statement, isPreparing: isPreparing, within: limit, on: reactor)
  }

  /// Has the server check and plan a statement without running it, e.g. to test every statement against a schema. Needs
  /// a session of its own.
  public func prepare(_ statement: PostgresStatement, on reactor: isolated Reactor) async throws(PostgresError) {
    try checkRoom(for: statement)
    guard try sendParseIfNeeded(statement, on: reactor) else { return }
    _ = try await answer(to: statement, isPreparing: true, within: nil, on: reactor)
  }

  private func checkRoom(for statement: PostgresStatement) throws(PostgresError) {
    guard isOpen else { throw (lossReason ?? PostgresError(.notConnected)).with(code: .notConnected) }
    guard script == nil, pending.count < configuration.pendingStatementsMax else {
      throw PostgresError(.tooManyPending, "\(pending.count) pending").of(statement: statement.name)
    }
  }

  /// Remembers the statement at once: what is sent next on this connection comes after the Parse.
  private func sendParseIfNeeded(
    _ statement: PostgresStatement, on reactor: isolated Reactor
  ) throws(PostgresError) -> Bool {
    if let sql = prepared[statement.name] {
      precondition(sql == statement.sql, "two statements are named \(statement.name)")
      return false
    }
    let types = statement.parameterTypes.map { Oid($0.oid) }
    guard PQsendPrepare(handle, statement.name, statement.sql, Int32(types.count), types) == 1 else {
      throw broken(on: reactor)
    }
    prepared[statement.name] = statement.sql
    return true
  }

  func answer(
    to statement: PostgresStatement, isPreparing: Bool, within limit: Duration?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    guard clibpq_append_sync_point(handle) == 1 else { throw broken(on: reactor) }
    flushAtTickEnd(on: reactor)
    let now = Reactor.now
    let deadline = answerDeadline(limit, now: now)
    let result = await withUnsafeContinuation { continuation in
      if pending.isEmpty { oldestSince = now }
      pending.append(
        PendingStatement(
          name: statement.name, continuation: continuation, deadline: deadline, isPreparing: isPreparing))
      armDeadline(now: now, on: reactor)
    }
    return try result.get()
  }

  /// A send that libpq refuses means a broken connection or no memory; neither gets better on this connection.
  func broken(on reactor: isolated Reactor) -> PostgresError {
    let error = PostgresError(.connectionLost, of: handle)
    lose(error, on: reactor)
    return error
  }
}

// Statements for sessions that are lent by transactions: nothing is left behind, and nothing found.
extension PostgresConnection {
  /// Sends the settings and the statement as one sync unit, and so as one transaction; both unnamed. The encoder holds
  /// the parameters.
  func queryWhole(
    _ statement: PostgresStatement, within limit: Duration?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    let isReady = statement.controlsTransaction || sendTransactionSettings()
    guard isReady, sendWhole(statement) else { throw broken(on: reactor) }
    return try await answer(to: statement, isPreparing: false, within: limit, on: reactor)
  }

  private func sendTransactionSettings() -> Bool {
    PQsendQueryParams(handle, transactionSettings, 0, nil, nil, nil, nil, 1) == 1
  }

  private func sendWhole(_ statement: PostgresStatement) -> Bool {
    let types = statement.parameterTypes.map { Oid($0.oid) }
    return encoder.withArguments { values, lengths, formats, count in
      PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1) == 1
    }
  }
}
