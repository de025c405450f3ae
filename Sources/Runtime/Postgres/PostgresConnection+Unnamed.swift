internal import CLibpq
internal import Reactors

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
