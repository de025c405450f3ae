internal import CLibpq
public import Reactors

extension PostgresConnection {
  /// Runs `body` between BEGIN and COMMIT; what it throws rolls back and is thrown on.
  ///
  /// Have the connection to yourself: a statement that somebody else sends meanwhile becomes part of the transaction.
  /// - Throws: what `body` throws, or ``PostgresError``: with ``SQLState/inFailedTransaction`` when a statement failed and
  ///   `body` went on regardless, which rolls back. A COMMIT that ends in ``PostgresError/Code/connectionLost`` or
  ///   ``PostgresError/Code/timedOut`` may have taken effect.
  public func withTransaction<Value>(
    on reactor: isolated Reactor, _ body: () async throws -> Value
  ) async throws -> Value {
    try await query(.begin, on: reactor)
    let value: Value
    do {
      value = try await body()
    } catch {
      // Its own failure means a lost connection, which rolls back too.
      _ = try? await query(.rollback, on: reactor)
      throw error
    }
    let answer = try await query(.commit, on: reactor)
    // A COMMIT of a transaction in which a statement failed is no error to the server: it rolls back and says so.
    guard answer.result.commandTag == "COMMIT" else {
      throw PostgresError(.server, context: .init(sqlState: .inFailedTransaction, statement: "commit"))
    }
    return value
  }

  /// Whether the session is in no transaction, and nothing is under way that could have opened one.
  var isOutsideTransaction: Bool { pending.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE }
}
