internal import CLibpq
internal import DequeModule
package import Reactors

extension PostgresConnection {
  /// Runs a statement. Prepares it first, if this session has not yet.
  ///
  /// It is sent in this tick, and answered after the statements before it.
  /// - Parameter limit: how long to wait for the answer; nil for the configuration's `answerLimit`.
  /// - Throws: ``PostgresError``. After ``PostgresError/Code/connectionLost`` and ``PostgresError/Code/timedOut`` the statement may
  ///   have taken effect. After other errors it has not, and the connection can still be used.
  @discardableResult
  package func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try checkRoom(for: statement)
    let statement = statement.resolved(by: chosenTypes)
    try encoder.encode(parameters, for: statement)
    if configuration.poolMode == .transaction {
      guard sendWhole(statement) else { throw broken(on: reactor) }
      return try await answer(to: statement, isPreparing: false, within: limit, on: reactor)
    }
    let isPreparing = try sendParseIfNeeded(statement, on: reactor)
    let isSent = encoder.withArguments { values, lengths, formats, count in
      PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1) == 1
    }
    guard isSent else { throw broken(on: reactor) }
    return try await answer(to: statement, isPreparing: isPreparing, within: limit, on: reactor)
  }

  /// Prepares a statement without running it, e.g. to test it against a schema. Not for transaction mode.
  package func prepare(_ statement: PostgresStatement, on reactor: isolated Reactor) async throws(PostgresError) {
    try checkRoom(for: statement)
    let statement = statement.resolved(by: chosenTypes)
    guard try sendParseIfNeeded(statement, on: reactor) else { return }
    _ = try await answer(to: statement, isPreparing: true, within: nil, on: reactor)
  }

  /// Runs a ``PostgresConfiguration/sessionCheck``, and uses the types that it returns.
  package func check(
    _ statement: PostgresStatement, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let row = try await query(statement, on: reactor).one()
    if row.result.columnCount > 1 {
      let numbers: [Int64] = try row.decode(1)
      chosenTypes = numbers.map { PostgresType(oid: UInt32(truncatingIfNeeded: $0)) }
      configuration.chosenTypes = chosenTypes
    }
    return try row.decode(0)
  }

  private func checkRoom(for statement: PostgresStatement) throws(PostgresError) {
    guard isOpen else { throw (lossReason ?? PostgresError(.notConnected)).with(code: .notConnected) }
    guard script == nil, pending.count < configuration.pendingStatementsMax else {
      throw PostgresError(.tooManyPending, "\(pending.count) pending").of(statement: statement.name)
    }
  }

  /// Remembers the statement at once, because later statements of this connection follow its Parse.
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

  private func answer(
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

  /// libpq refuses to send on a broken connection or without memory. Neither recovers on this connection.
  private func broken(on reactor: isolated Reactor) -> PostgresError {
    let error = PostgresError(.connectionLost, of: handle)
    lose(error, on: reactor)
    return error
  }

  /// Sends the settings and the encoded statement as one sync unit, and so as one transaction. Both are unnamed, because the next
  /// transaction may run in another session.
  private func sendWhole(_ statement: PostgresStatement) -> Bool {
    guard
      statement.controlsTransaction
        || PQsendQueryParams(handle, transactionSettings, 0, nil, nil, nil, nil, 1) == 1
    else { return false }
    let types = statement.parameterTypes.map { Oid($0.oid) }
    return encoder.withArguments { values, lengths, formats, count in
      PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1) == 1
    }
  }
}
