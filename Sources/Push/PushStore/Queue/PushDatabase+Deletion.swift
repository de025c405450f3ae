package import Postgres
package import PushRules
package import Reactors

extension PushDatabase {
  /// Rows that a statement prunes at most.
  static let prunedRowsMax = 1000

  /// The tables whose rows are kept for a time and then deleted, without their schema.
  package func prunedTables(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await pool.query(.prunedTables, on: reactor).map { row throws(PostgresError) in try row.decode("name") }
  }

  /// Deletes one batch of rows that are older than the retention, and than the table needs, by the database's clock.
  ///
  /// A batch that throws has deleted nothing, or, when the connection was lost while it ran, may have deleted all of it.
  /// - Returns: rows deleted, and whether the batch was full, so that more may be left.
  package func prune(
    _ table: String, olderThan retention: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rows: Int, isFull: Bool) {
    let call = StatementCall.prune(tableName: table, retentionMicroseconds: retention.wholeMicroseconds)
    let count: Int = try await pool.query(call, on: reactor).one().decode(0)
    return (count, count >= Self.prunedRowsMax)
  }
}

/// What one pass over users who are to be forgotten has done.
package struct ErasurePass: Equatable, Sendable {
  /// Rows deleted, of all tables.
  package let rows: Int
  /// Users with no rows left, long enough after the first pass.
  package let finished: Int
  /// Whether another pass would find something to do at once.
  package let hasMore: Bool
}

extension PushDatabase {
  /// Deletes rows of users that the host has deleted. Locked rows stay until a later pass.
  /// - Parameter settled: how long after the first pass a push that was under way may still be recorded.
  package func eraseUsers(
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
  package func queueGoneUsers(
    after: HostID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostID? {
    try await pool.query(.queueGoneUsers(afterID: after, usersMax: usersMax), on: reactor)
      .one().decode(0)
  }
}
