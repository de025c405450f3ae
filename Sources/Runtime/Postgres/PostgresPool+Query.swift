package import Reactors

extension PostgresPool {
  /// Runs a statement on the least-loaded session. Retries it a few times after a deadlock or a serialization failure, because a
  /// single statement is a whole transaction.
  ///
  /// Waits up to the pool's limit while no session can be used.
  /// - Parameters:
  ///   - limit: how long each attempt waits for its answer.
  ///   - time: how long to leave the database to others after its return.
  /// - Throws: ``PostgresError``; ``PostgresError/Code/notConnected`` if no session was opened in time.
  @discardableResult
  package func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    afterReturn time: Duration = .zero, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    noteUse(on: reactor)
    var retry = ConflictRetry()
    var generator = SystemRandomNumberGenerator()
    while true {
      do throws(PostgresError) {
        var member = leastBusy
        if member == nil { member = try await awaitUsable(on: reactor) }
        if let rest = rest(afterReturn: time) {
          await reactor.sleep(for: rest)
          continue
        }
        guard let connection = member?.usable else { throw notConnected }
        defer { if configuration.poolMode == .transaction { wakeFirstWaiter(on: reactor) } }
        return try await connection.query(statement, parameters, within: limit, on: reactor)
      } catch {
        guard let wait = retry.wait(after: error, using: &generator) else { throw error }
        await reactor.sleep(for: wait)
      }
    }
  }
}

extension PostgresPool {
  /// Leases a session to `body` exclusively, for transactions and session state.
  ///
  /// The session returns to the pool after `body`. A session left in a transaction is closed and replaced.
  /// - Throws: the error of `body`, or ``PostgresError/Code/notConnected``.
  package func withConnection<Value>(
    on reactor: isolated Reactor, _ body: (PostgresConnection) async throws -> Value
  ) async throws -> Value {
    noteUse(on: reactor)
    let member = try await awaitUsable(on: reactor)
    guard let connection = member.usable else { throw PostgresError(.notConnected) }
    member.isLeased = true
    let result: Result<Value, any Error>
    do {
      result = .success(try await body(connection))
    } catch {
      result = .failure(error)
    }
    let isDrained = await connection.drain(within: configuration.answerLimit, on: reactor)
    if !isDrained || !connection.isOutsideTransaction { connection.close(on: reactor) }
    member.isLeased = false
    wakeWaiters(on: reactor)
    return try result.get()
  }
}

// The time after the database's return.
extension PostgresPool {
  /// A session is open. If it is the first after a loss, the observer is called.
  func reportReturn(on reactor: isolated Reactor) {
    guard let lostAt else { return }
    self.lostAt = nil
    returnedAt = Reactor.now
    observer?.databaseReturned(lostAt: lostAt, on: reactor)
  }

  /// How long a statement must wait to leave the database to others after its return; nil if it may run.
  private func rest(afterReturn time: Duration) -> Duration? {
    guard let returnedAt, time > .zero else { return nil }
    let (elapsed, wait) = (Reactor.now &- returnedAt, time.clampedNanoseconds)
    return elapsed < wait ? .nanoseconds(Int64(wait - elapsed)) : nil
  }
}

/// Handles the return of the database, before other work.
package protocol PostgresPoolObserver: AnyObject {
  /// A session is open again after all had ended.
  /// - Parameter lostAt: when the last session ended, in monotonic nanoseconds.
  func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor)
}
