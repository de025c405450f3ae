package import Postgres
package import Reactors

// Events for the host; see db/functions/host_event_queue.sql.
extension PushDatabase {
  /// Looks at pushes that are due to be unread, and makes an event of each.
  /// - Returns: how many were due; as many as asked for mean that there may be more.
  package func checkUnread(_ count: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.checkUnread(checksMax: count), on: reactor).one().decode(0)
  }

  /// Claims the oldest event of each of so many users. Another process takes one over when the lease has ended.
  package func claimHostEvents(
    _ count: Int, lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostEvent] {
    var events: [HostEvent] = []
    let call = StatementCall.claimHostEvents(eventsMax: count, leaseMicroseconds: lease.wholeMicroseconds)
    for row in try await pool.query(call, on: reactor) { events.append(try HostEvent(row)) }
    return events
  }

  /// Records what the host answered.
  /// - Parameter givesUp: how long after its first attempt an event is dead.
  /// - Returns: what has become of the event; nil when another process has taken it over.
  package func settle(
    _ event: HostEvent, _ answer: HostEventAnswer, givesUp: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostEventState? {
    let call = StatementCall.settleHostEvent(
      eventID: event.id, attempt: event.attempt, status: answer.status, error: answer.fault,
      nextTryMicroseconds: answer.nextTry?.wholeMicroseconds, givesUpMicroseconds: givesUp.wholeMicroseconds)
    let state: String? = try await pool.query(call, on: reactor).one().decode(0)
    return state.flatMap(HostEventState.init)
  }

  /// How long until an event or a check is due, negative for one that is; nil without either.
  package func timeUntilNextHostEvent(on reactor: isolated Reactor) async throws(PostgresError) -> Duration? {
    let microseconds: Int64? = try await pool.query(.nextHostEvent, on: reactor).one().decode(0)
    return microseconds.map { .microseconds($0) }
  }

  /// Sends dead events again, and those that wait for their next attempt at once.
  /// - Returns: how many.
  @discardableResult
  package func retryHostEvents(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.retryHostEvents, on: reactor).one().decode(0)
  }

  /// The newest dead events, then waiting ones.
  ///
  /// One ``OperatorLook``.
  /// - Parameter count: events at most of either.
  /// - Throws: ``PostgresError``.
  package func hostEvents(_ count: Int, on reactor: isolated Reactor) async throws -> [HostEventEntry] {
    try await look(on: reactor) { look in
      try await look.query(.hostEventList(rowsMax: count), on: reactor).map(HostEventEntry.init)
    }
  }

  /// Counts events and checks.
  /// - Parameter limit: how long it may take, beside the wait for a session.
  package func hostEventFigures(
    within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostEventFigures {
    let call = StatementCall.hostEventFigures(rowsMax: HostEventFigures.rowsMax)
    return try HostEventFigures(await pool.query(call, within: limit, on: reactor).one())
  }
}

extension DatabaseExamination {
  package func hostEvents(on reactor: isolated Reactor) async throws(PostgresError) -> HostEventFigures {
    try HostEventFigures(
      await connection.query(.hostEventFigures(rowsMax: HostEventFigures.rowsMax), on: reactor).one())
  }
}
