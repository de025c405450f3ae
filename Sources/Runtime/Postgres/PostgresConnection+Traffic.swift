internal import CLibpq
internal import DequeModule
package import Reactors

extension PostgresConnection: ReadinessHandler {
  package func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    if readiness.shouldRead { receive(on: reactor) }
    // Also after a read, because libpq may have output (`PQflush` in the manual, section 34.4).
    if isWatchingWrites { flush(on: reactor) }
  }

  private func receive(on reactor: isolated Reactor) {
    guard let handle else { return }
    // A TLS record of 16 KiB may be read in two halves. The second is then in OpenSSL, where epoll does not see it.
    let isConsumed = PQconsumeInput(handle) == 1 && (PQsslInUse(handle) == 0 || PQconsumeInput(handle) == 1)
    takeResults(on: reactor)
    takeNotifications(on: reactor)
    if let handle = self.handle, !isConsumed || PQstatus(handle) == CONNECTION_BAD {
      lose(PostgresError(.connectionLost, of: handle), on: reactor)
    }
  }

  private func takeNotifications(on reactor: isolated Reactor) {
    while let handle, let notify = PQnotifies(handle) {
      let notification = PostgresNotify(
        channel: String(cString: notify.pointee.relname), payload: String(cString: notify.pointee.extra),
        processID: notify.pointee.be_pid)
      PQfreemem(notify)
      keeper?.notificationArrived(notification, on: reactor)
    }
  }
}

// Writing.
extension PostgresConnection: TickEndHandler {
  /// Sends this tick's statements, which are in libpq's buffer, in one write.
  package func tickEnded(on reactor: isolated Reactor) {
    hasAskedForTickEnd = false
    flush(on: reactor)
  }

  func flushAtTickEnd(on reactor: isolated Reactor) {
    guard !hasAskedForTickEnd else { return }
    hasAskedForTickEnd = true
    reactor.callAtTickEnd(self)
  }

  /// Writes as much as the socket accepts, and watches for room for the rest.
  private func flush(on reactor: isolated Reactor) {
    guard let handle, let registration else { return }
    let outcome = PQflush(handle)
    guard outcome >= 0 else { return lose(PostgresError(.connectionLost, of: handle), on: reactor) }
    guard isWatchingWrites != (outcome == 1) else { return }
    isWatchingWrites = outcome == 1
    do throws(SystemError) {
      try reactor.update(registration, to: isWatchingWrites ? [.read, .write] : .read)
    } catch {
      lose(PostgresError(.connectionLost, error.description), on: reactor)
    }
  }
}

/// A message that another session sent with NOTIFY.
package struct PostgresNotify: Sendable, Equatable {
  package let channel: String
  /// The text sent along, at most 7999 bytes; empty when none was given.
  package let payload: String
  /// The sending session's server process.
  package let processID: Int32
}

// The server's answers, in order: for each statement its results, each followed by a null, then its sync point.
extension PostgresConnection {
  func takeResults(on reactor: isolated Reactor) {
    // More follows a null between results. Two nulls in a row mean that nothing more has arrived.
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
    // No success follows a failure. A second success is the statement's, after its Parse.
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

  /// The sync point is answered. Only now is the statement's transaction committed, or known not to be.
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

  /// A server that refuses writes continues to do so. Ends the session, so that the next one looks for another host: first among
  /// the others, because without `target_session_attrs`, or behind a pooler, this one would take it again.
  private func leaveIfReadOnly(_ error: PostgresError, on reactor: isolated Reactor) {
    guard error.code == .server, error.sqlState == .readOnlyTransaction else { return }
    if let target { configuration.hosts.recordRefusedWrite(to: target, now: Reactor.now) }
    lose(error.with(code: .connectionLost), on: reactor)
  }

  /// Ends the session and fails its pending statements. The only way in which a connection ends.
  func lose(_ reason: PostgresError, on reactor: isolated Reactor) {
    guard isOpen else { return }
    lossReason = reason
    reactor.deregister(&registration)
    disarmDeadline(on: reactor)
    finish()
    failPending(reason)
    tellDrained(on: reactor)
    keeper?.connectionEnded(reason, on: reactor)
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
