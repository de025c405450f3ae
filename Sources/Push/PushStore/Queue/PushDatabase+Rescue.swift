package import Postgres
internal import PushRules
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
      subjectID: event.subject.id, kind: event.subject.kind, userID: userID, attempts: event.attempts,
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
    let rows = try await pool.query(.nextDue, on: reactor)
    return try rows.one().decode(0, as: Int64?.self).map { .microseconds($0) }
  }

  private func count(
    _ call: StatementCall, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    try await pool.query(call, on: reactor).one().decode(0)
  }
}
