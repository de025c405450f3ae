public import Reactors

extension PostgresPool {
  /// Runs a statement on the session with the fewest pending, and again, a few times, when the server rolled it back
  /// because of a deadlock or a serialization failure: on its own it is a whole transaction.
  ///
  /// Waits up to the pool's limit while no session can be used.
  /// - Parameters:
  ///   - limit: how long each attempt waits for its answer.
  ///   - time: how long others go first when the database has just come back.
  /// - Throws: ``PostgresError``; ``PostgresError/Code/notConnected`` when no session came up in time.
  @discardableResult
  public func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    afterReturn time: Duration = .zero, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
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
  /// Gives `body` a session that nobody else uses meanwhile, for transactions and session state.
  ///
  /// The session goes back when `body` returns; one left inside a transaction is closed and replaced instead.
  /// - Throws: what `body` throws, or ``PostgresError/Code/notConnected``.
  public func withConnection<Value>(
    on reactor: isolated Reactor, _ body: (PostgresConnection) async throws -> Value
  ) async throws -> Value {
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

// The first moment after the database was away.
extension PostgresPool {
  /// A session is open; if it is the first after a loss, those who have something to do first are told.
  func noteReturn(on reactor: isolated Reactor) {
    guard let lostAt else { return }
    self.lostAt = nil
    returnedAt = Reactor.now
    observer?.databaseReturned(lostAt: lostAt, on: reactor)
  }

  /// How long a statement that leaves others the first moment after a return has to wait; nil when it may run.
  func rest(afterReturn time: Duration) -> Duration? {
    guard let returnedAt, time > .zero else { return nil }
    let (elapsed, wait) = (Reactor.now &- returnedAt, time.clampedNanoseconds)
    return elapsed < wait ? .nanoseconds(Int64(wait - elapsed)) : nil
  }
}

/// Who has something to do first when the database is back.
public protocol PostgresPoolObserver: AnyObject {
  /// A session is open again after all had ended.
  /// - Parameter lostAt: when the last of them ended, in monotonic nanoseconds.
  func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor)
}
