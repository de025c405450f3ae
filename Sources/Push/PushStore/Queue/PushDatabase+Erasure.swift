public import FoundationEssentials
public import Postgres
public import Reactors

/// What one pass over users who are to be forgotten has done.
public struct ErasurePass: Equatable, Sendable {
  /// Rows deleted, of all tables.
  public let rows: Int
  /// Users of whom nothing was left, long enough after the first pass.
  public let finished: Int
  /// Whether another pass would find something to do at once.
  public let hasMore: Bool
}

extension PushDatabase {
  /// Deletes rows of users whom the host has deleted; what is locked stays until a later pass.
  /// - Parameter settled: how long after the first pass a push that was under way may still be recorded.
  public func eraseUsers(
    usersMax: Int, rowsMax: Int, settled: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ErasurePass {
    let row = try await pool.query(
      .eraseUsers(usersMax: usersMax, rowsMax: rowsMax, settledMicroseconds: settled.wholeMicroseconds), on: reactor
    ).one()
    return ErasurePass(
      rows: try row.decode("erased"), finished: try row.decode("finished"), hasMore: try row.decode("has_more"))
  }

  /// Notes, of the next users in the order of their ids, those who are gone from `auth.users`; ``eraseUsers(usersMax:rowsMax:settled:on:)``
  /// forgets them.
  /// - Parameter after: the last id of the users looked at before; nil for the first.
  /// - Returns: the last id of these; nil when there are no more, or the host has no such table.
  public func noteGoneUsers(
    after: UUID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> UUID? {
    let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    return try await pool.query(.queueGoneUsers(afterID: after ?? first, usersMax: usersMax), on: reactor)
      .one().decode(0)
  }
}
