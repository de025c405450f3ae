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
