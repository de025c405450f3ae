internal import CLibpq
internal import DequeModule
internal import Reactors

// What the server answers, in order: for each statement its results, each followed by a null, then its sync point.
extension PostgresConnection {
  func takeResults(on reactor: isolated Reactor) {
    // A null between results is followed by more; two in a row mean that there is nothing yet.
    var nullsInARow = 0
    while let handle, !pending.isEmpty || script != nil, nullsInARow < 2, PQisBusy(handle) == 0 {
      guard let result = PQgetResult(handle) else {
        nullsInARow += 1
        if script != nil { finishScript(on: reactor) }
        continue
      }
      nullsInARow = 0
      if script != nil { takeScriptResult(result, on: reactor) } else { take(result, on: reactor) }
    }
  }

  private func take(_ result: OpaquePointer, on reactor: isolated Reactor) {
    switch PQresultStatus(result) {
    case PGRES_PIPELINE_SYNC:
      PQclear(result)
      finishOldest(on: reactor)
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      takeSuccess(result)
    case PGRES_PIPELINE_ABORTED:
      PQclear(result)
    default:
      takeFailure(result, on: reactor)
    }
  }

  private func takeSuccess(_ result: OpaquePointer) {
    pending[0].isPreparing = false
    // A success after a failure cannot be; a success after the Parse's success is the statement's own.
    pending[0].result = .success(PostgresRows(result: ResultHandle(owning: result)))
  }

  private func takeFailure(_ result: OpaquePointer, on reactor: isolated Reactor) {
    defer { PQclear(result) }
    if PostgresError.endsSession(report: result) {
      return lose(PostgresError(.connectionLost, report: result), on: reactor)
    }
    if pending[0].isPreparing { prepared[pending[0].name] = nil }
    pending[0].fail(PostgresError(report: result))
  }

  /// The sync point has been answered: only now is the statement's transaction committed, or known not to be.
  private func finishOldest(on reactor: isolated Reactor) {
    let statement = pending.removeFirst()
    statementsAnswered += 1
    oldestSince = Reactor.now
    statement.continuation?.resume(returning: statement.result ?? .failure(Self.missingResult(of: statement.name)))
    if pending.isEmpty { tellDrained(on: reactor) }
    if case .failure(let error) = statement.result { leaveIfReadOnly(error, on: reactor) }
  }

  private static func missingResult(of statement: String) -> PostgresError {
    PostgresError(.connectionLost, "an answer without a result").of(statement: statement)
  }

  /// A server that has begun to refuse writes goes on doing so: another of the hosts may take them, and a new session
  /// looks for it.
  private func leaveIfReadOnly(_ error: PostgresError, on reactor: isolated Reactor) {
    guard error.code == .server, error.sqlState == .readOnlyTransaction else { return }
    lose(error.with(code: .connectionLost), on: reactor)
  }

  /// Ends the session, and with it everything pending. The only way a connection ends.
  func lose(_ reason: PostgresError, on reactor: isolated Reactor) {
    guard isOpen else { return }
    lossReason = reason
    if let registration { reactor.deregister(registration) }
    registration = nil
    disarmDeadline(on: reactor)
    finish()
    failPending(reason)
    tellDrained(on: reactor)
    observer?.connectionEnded(reason, on: reactor)
  }

  private func failPending(_ reason: PostgresError) {
    var lost = pending
    pending.removeAll()
    while let statement = lost.popFirst() {
      statement.continuation?.resume(returning: .failure(reason.of(statement: statement.name)))
    }
    script?.continuation.resume(returning: .failure(reason))
    script = nil
  }
}
