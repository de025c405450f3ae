package import Postgres
package import Reactors

/// What waits in the database, for all services on it together.
package struct QueueFigures: Equatable, Sendable {
  /// How far each table is counted: enough to tell an outage from a busy day, and some tens of milliseconds of one server
  /// process at the most.
  package static let rowsMax = 50_000

  /// Lanes that are told apart; as many apps in two environments are more than anybody has configured.
  package static let lanesMax = 32

  /// Unclaimed events in the inbox.
  package var freshEvents = 0
  /// Events in the inbox under a claim, or left by one.
  package var claimedEvents = 0
  /// Since the oldest event of the inbox was committed; nil when it is empty. Beyond ``rowsMax`` events of either sort it
  /// is that of the oldest looked at.
  package var oldestEventAge: Duration?
  package var held = 0
  /// Pushes with a time for another attempt.
  package var retryable = 0
  /// Pushes that wait for APNs, by lane; `other` is those of lanes beyond ``lanesMax``.
  package var waiting: [String: Int] = [:]
  /// Work that was set aside for a person to look at.
  package var parked = 0
  /// Errors that the triggers swallowed within the last hour.
  package var triggerFailures = 0
  package var runningActivities = 0

  /// For how long the oldest snapshot has been kept; nil when there is none, or none that may be seen.
  package var snapshotAge: Duration?
  /// How many transactions have begun since the oldest snapshot of a replication slot; nil when there is none.
  package var slotAgeTransactions: Int?

  package init() {}
}

extension PushDatabase {
  /// Counts what waits, each table to ``QueueFigures/rowsMax`` rows; one round trip.
  /// - Parameter limit: how long it may take, beside the wait for a session.
  package func queueFigures(
    within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> QueueFigures {
    let rows = try await pool.query(
      .queueFigures(rowsMax: QueueFigures.rowsMax, lanesMax: QueueFigures.lanesMax), within: limit, on: reactor)
    var figures = QueueFigures()
    for row in rows {
      figures.take(try row.decode("figure"), try row.decode("label"), try row.decode("number"))
    }
    return figures
  }
}

extension QueueFigures {
  fileprivate mutating func take(_ figure: String, _ label: String?, _ number: Int64) {
    let count = Int(number)
    switch (figure, label) {
    case ("inbox", "fresh"): freshEvents = count
    case ("inbox", "claimed"): claimedEvents = count
    case ("oldest_age", _): oldestEventAge = max(.zero, .microseconds(number))
    case ("deliveries", "held"): held = count
    case ("deliveries", "retryable"): retryable = count
    case ("waiting", let lane?): waiting[lane] = count
    case ("parked", _): parked = count
    case ("trigger_failures", _): triggerFailures = count
    case ("live_activities", _): runningActivities = count
    case ("snapshot_age", _): snapshotAge = max(.zero, .microseconds(number))
    case ("slot_age", _): slotAgeTransactions = count
    default: preconditionFailure("queue_figures answers \(figure) \(label ?? "without a label")")
    }
  }
}
