internal import CLibpq
internal import DequeModule
package import Reactors

struct PendingScript {
  let continuation: UnsafeContinuation<Result<Void, PostgresError>, Never>
  var failure: PostgresError?
}

extension PostgresConnection {
  /// Runs a script of any number of statements, like `psql -c`: in one implicit transaction, unless the script controls it.
  ///
  /// Waits until nothing is pending, and leaves pipeline mode meanwhile. Other statements are refused with
  /// ``PostgresError/Code/tooManyPending``, so use a separate connection. Results are dropped. There is no client-side limit, and
  /// the server's `statement_timeout` applies to the whole script.
  package func simple(_ sql: String, on reactor: isolated Reactor) async throws(PostgresError) {
    guard !sql.utf8.contains(0) else { throw PostgresError(.invalidParameter, "a script has no NUL") }
    guard script == nil, await drain(within: configuration.answerLimit, on: reactor) else {
      throw PostgresError(.tooManyPending, "the connection is busy")
    }
    guard isOpen else { throw (lossReason ?? PostgresError(.notConnected)).with(code: .notConnected) }
    guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, sql) == 1 else {
      let error = PostgresError(.connectionLost, of: handle)
      lose(error, on: reactor)
      throw error
    }
    flushAtTickEnd(on: reactor)
    try await withUnsafeContinuation { script = PendingScript(continuation: $0) }.get()
  }

  func takeScriptResult(_ result: OpaquePointer, on reactor: isolated Reactor) {
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
    case PGRES_FATAL_ERROR where !PostgresError.endsSession(report: result):
      if script?.failure == nil { script?.failure = PostgresError(report: result) }
    case PGRES_FATAL_ERROR: lose(PostgresError(.connectionLost, report: result), on: reactor)
    // COPY would wait for rows, and none are sent.
    default: lose(PostgresError(.connectionLost, "a script cannot use COPY"), on: reactor)
    }
  }

  func finishScript(on reactor: isolated Reactor) {
    guard let finished = script else { return }
    script = nil
    if PQenterPipelineMode(handle) != 1 { lose(PostgresError(.connectionLost, of: handle), on: reactor) }
    finished.continuation.resume(returning: finished.failure.map { .failure($0) } ?? .success(()))
  }
}

extension PostgresConnection {
  /// Runs `body` between BEGIN and COMMIT. An error of `body` rolls back and is rethrown.
  ///
  /// Use a separate connection: other statements on this one become part of the transaction.
  /// - Throws: the error of `body`, or ``PostgresError``: with ``SQLState/inFailedTransaction`` when a statement failed and `body`
  ///   continued, which rolls back. A COMMIT that ends in ``PostgresError/Code/connectionLost`` or ``PostgresError/Code/timedOut``
  ///   may have taken effect.
  package func withTransaction<Value>(
    on reactor: isolated Reactor, _ body: () async throws -> Value
  ) async throws -> Value {
    try await query(.begin, on: reactor)
    let value: Value
    do {
      value = try await body()
    } catch {
      // If ROLLBACK fails the connection is lost, which rolls back too.
      _ = try? await query(.rollback, on: reactor)
      throw error
    }
    let answer = try await query(.commit, on: reactor)
    // The server answers COMMIT of a failed transaction without an error, but with the tag ROLLBACK.
    guard answer.result.commandTag == "COMMIT" else {
      throw PostgresError(.server, context: .init(sqlState: .inFailedTransaction, statement: "commit"))
    }
    return value
  }

  /// Whether the session is in no transaction, and no pending statement can have opened one.
  var isOutsideTransaction: Bool { pending.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE }
}
