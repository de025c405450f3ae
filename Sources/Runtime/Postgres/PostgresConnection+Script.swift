internal import CLibpq
internal import DequeModule
public import Reactors

/// A script in progress.
struct PendingScript {
  let continuation: UnsafeContinuation<Result<Void, PostgresError>, Never>
  var failure: PostgresError?
}

extension PostgresConnection {
  /// Runs a script of any number of statements, as `psql -c` would: one implicit transaction unless it says otherwise.
  ///
  /// Waits until nothing is pending, leaves pipeline mode and enters it again. Statements sent meanwhile are refused
  /// with ``PostgresError/Code/tooManyPending``: have the connection to yourself. Results are dropped. There is no
  /// client-side limit; the server's `statement_timeout` counts for the whole script.
  public func simple(_ sql: String, on reactor: isolated Reactor) async throws(PostgresError) {
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
    // COPY would leave the session waiting for rows that nobody sends.
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
