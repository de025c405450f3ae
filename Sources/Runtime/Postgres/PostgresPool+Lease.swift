public import Reactors

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
