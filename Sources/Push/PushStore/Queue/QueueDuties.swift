package import Postgres
package import PushRules
package import Reactors

// Work that the usual claim and record cannot deal with, and when something becomes due.
extension PushDatabase {
  /// Sets a claimed event aside whose record the database refuses.
  /// - Returns: whether it was still ours.
  @discardableResult
  package func park(
    _ event: PushEvent, because error: PostgresError, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let userID = event.origin == .delivery ? event.recipients.first?.userID : nil
    let call = StatementCall.parkRefused(
      subjectID: event.subject.id, kind: event.subject.kind, userID: userID, attempts: event.rowAttempts,
      reason: error.description)
    return try await count(call, on: reactor) > 0
  }

  /// Sets aside what was claimed too often without a record.
  /// - Returns: how much was.
  package func parkExhausted(
    rescuesMax: Int, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.parkExhausted(rescuesMax: rescuesMax, rowsMax: rowsMax), on: reactor)
  }

  /// Enqueues events that a trigger could not write to the inbox.
  /// - Returns: how many there were.
  package func enqueueMissed(rowsMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await count(.enqueueMissed(failuresMax: rowsMax), on: reactor)
  }

  /// Frees what has waited for its lane for longer than its life, so that it is recorded as expired.
  /// - Returns: how much was.
  package func releaseExpired(
    life: Duration, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.releaseExpired(lifeMicroseconds: life.wholeMicroseconds, rowsMax: rowsMax), on: reactor)
  }

  /// Deletes messages that were older than a message's life when they were enqueued.
  /// - Returns: how many there were.
  package func discardTooOld(
    life: Duration, rowsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await count(.discardTooOld(lifeMicroseconds: life.wholeMicroseconds, rowsMax: rowsMax), on: reactor)
  }

  /// Releases holds that a host's transaction could not.
  /// - Returns: how often that was.
  package func releaseQueued(rowsMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await count(.releaseQueued(releasesMax: rowsMax), on: reactor)
  }

  /// Makes new events available that a clock ahead of this one has dated.
  package func bringForward(on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(.bringForward, on: reactor)
  }

  /// How long until something becomes due by itself; negative when it is overdue, nil when nothing waits.
  package func timeUntilNextDue(on reactor: isolated Reactor) async throws(PostgresError) -> Duration? {
    try await pool.query(.nextDue, on: reactor).one().decode(0)
  }

  private func count(
    _ call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await pool.query(call, on: reactor).one().decode(0)
  }
}

extension PushDatabase {
  /// Rows that a statement prunes at most.
  static let prunedRowsMax = 1000

  /// The tables whose rows are kept for a time and then deleted, without their schema.
  package func prunedTables(on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await pool.query(.prunedTables, on: reactor).decoded()
  }

  /// Deletes one batch of rows that are older than the retention, and than the table needs, by the database's clock.
  ///
  /// A batch that throws has deleted nothing, or, when the connection was lost while it ran, may have deleted all of it.
  /// - Returns: rows deleted, and whether the batch was full, so that more may be left.
  package func prune(
    _ table: String, olderThan retention: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rows: Int, isFull: Bool) {
    let count = try await count(
      .prune(tableName: table, retentionMicroseconds: retention.wholeMicroseconds), on: reactor)
    return (count, count >= Self.prunedRowsMax)
  }
}

/// What one pass over users who are to be forgotten has done.
package struct ErasurePass: Equatable, Sendable, Decodable {
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
    let call = StatementCall.eraseUsers(
      usersMax: usersMax, rowsMax: rowsMax, settledMicroseconds: settled.wholeMicroseconds)
    return try await pool.query(call, on: reactor).one().decoded()
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

/// What waits in the database, for all services on it together.
package struct QueueFigures: Equatable, Sendable, Decodable {
  /// How far each table is counted: enough to tell an outage from a busy day, and some tens of milliseconds of one server
  /// process at the most.
  package static let rowsMax = 50_000

  /// Lanes that are told apart; as many apps in two environments are more than anybody has configured.
  package static let lanesMax = 32

  /// Work that has been due for so long finds no process, or too few: a claim takes milliseconds, and polls come
  /// within a second.
  package static let overdueFrom = Duration.seconds(10)

  /// Events in the inbox without a claim; their owners may have some of them in hand.
  package var freshEvents = 0
  /// Events in the inbox under a claim, or left by one.
  package var claimedEvents = 0
  /// Since the oldest event of the inbox was committed; nil when it is empty. Beyond ``rowsMax`` events of either sort it
  /// is that of the oldest looked at.
  package var oldestEventAge: Duration?
  package var held = 0
  /// How long until the first of them is looked at again; negative when it is overdue.
  package var nextHold: Duration?
  /// Pushes with a time for another attempt.
  package var retryable = 0
  /// How long until the first of them is tried again; negative when it is overdue.
  package var nextRetry: Duration?
  /// Pushes that wait for APNs, by lane; `other` is those of lanes beyond ``lanesMax``.
  package var waiting: [String: Int] = [:]
  /// Work that was set aside for a person to look at.
  package var parked = 0
  /// Errors that the triggers swallowed within the last hour.
  package var triggerFailures = 0
  package var runningActivities = 0

  package var events: Int { freshEvents + claimedEvents }

  /// For how long the oldest snapshot has been kept; nil when there is none, or none that may be seen.
  package var snapshotAge: Duration?
  /// How many transactions have begun since the oldest snapshot of a replication slot; nil when there is none.
  package var slotAgeTransactions: Int?

  private enum CodingKeys: CodingKey {
    case freshEvents, claimedEvents, oldestEventAge, held, nextHold, retryable, nextRetry, parked, triggerFailures
    case runningActivities, snapshotAge, slotAgeTransactions
  }
}

extension PushDatabase {
  /// Counts what waits, each table to ``QueueFigures/rowsMax`` rows; one round trip.
  /// - Parameter limit: how long it may take, beside the wait for a session.
  package func queueFigures(
    within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> QueueFigures {
    let row = try await pool.query(
      .queueFigures(rowsMax: QueueFigures.rowsMax, lanesMax: QueueFigures.lanesMax), within: limit, on: reactor
    ).one()
    var figures: QueueFigures = try row.decoded()
    figures.waiting = try row.decode("waiting", as: ExplainedDocument<[String: Int]>.self).content
    return figures
  }
}
