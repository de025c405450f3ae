package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// An event that a process has claimed, to send it to the host.
package struct HostEvent: Equatable, Sendable, Decodable {
  /// Its place in the order of its user.
  package var id: Int64
  /// Attempts so far, this one among them.
  package var attempt: Int = 1
  /// What the host knows it by; the same in each attempt.
  package var webhookID: UUID = UUID()
  /// Such as `push.unread`.
  package var type: String
  package var userID: HostID
  /// The row of the ledger; nil for a device.
  package var pushID: UUID?
  /// The subject of the push; nil for a device.
  package var subjectID: HostID?
  /// The kind of the push; nil for a device.
  package var kind: String?
  /// The ledger's reason, or why a device was dropped; nil for a plain success.
  package var reason: String?
  /// The service of a dropped device, such as `apns`; nil for a push.
  package var channel: String?
  /// The first eight characters of a dropped device's token; nil for a push.
  package var device: String?
  /// When it happened, in microseconds since 1970.
  package var occurredAt: Int64
  /// When the push was accepted first; nil when it was not.
  package var sentAt: Int64?
}

/// What the host answered to an attempt at an event.
package struct HostEventAnswer: Equatable, Sendable {
  /// The status; nil without an answer.
  package var status: Int?
  /// What is wrong with it; nil when the host has taken the event.
  package var fault: String?
  /// After how long to try again; nil when the host has taken the event.
  package var nextTry: Duration?

  /// An answer; one without a wait takes the event.
  package init(status: Int?, fault: String? = nil, nextTry: Duration? = nil) {
    self.status = status
    self.fault = fault
    self.nextTry = nextTry
  }
}

/// What has become of an event; the raw values are those of the database.
package enum HostEventState: String, CaseIterable, PostgresScalar, Decodable {
  /// It is tried, again if it was before.
  case waiting
  /// The host has answered 2xx.
  case taken
  /// A push was looked at before `push.unread` was sent.
  case cancelled
  /// It was not taken for too long.
  case dead
}

/// An event that is dead or waits, for the operator.
package struct HostEventEntry: Equatable, Sendable, Decodable {
  /// Dead or waiting.
  package let state: HostEventState
  /// Such as `push.unread`.
  package let type: String
  /// The kind of the push; nil for a device.
  package let kind: String?
  package let userID: HostID
  /// The subject of the push; nil for a device.
  package let subjectID: HostID?
  package let attempts: Int
  /// The status of the last answer; nil without one.
  package let status: Int?
  package let error: String?
  /// When it happened, in microseconds since 1970.
  package let occurredAt: Int64
  /// When it died, or when it is tried next.
  package let at: Int64
}

/// How many events are on their way to the host.
package struct HostEventFigures: Equatable, Sendable, Decodable {
  /// Where counting stops.
  package static let rowsMax = 50_000

  /// Events that wait, to ``rowsMax``.
  package var waiting = 0
  /// Since the oldest of them happened; nil without one.
  package var oldestAge: Duration?
  /// Events that were not taken for too long, to ``rowsMax``.
  package var dead = 0
  /// Pushes that are looked at later, to ``rowsMax``.
  package var checks = 0
  /// The types of events that the host gets.
  package var announced: [String] = []

  package init() {}
}

// Events for the host; see db/functions/host_events.sql.
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
    let call = StatementCall.claimHostEvents(eventsMax: count, leaseMicroseconds: lease.wholeMicroseconds)
    return try await pool.query(call, on: reactor).decoded()
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
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// How long until an event or a check is due, negative for one that is; nil without either.
  package func timeUntilNextHostEvent(on reactor: isolated Reactor) async throws(PostgresError) -> Duration? {
    try await pool.query(.nextHostEvent, on: reactor).one().decode(0)
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
      try await look.query(.hostEventList(rowsMax: count), on: reactor).decoded()
    }
  }

  /// Counts events and checks.
  /// - Parameter limit: how long it may take, beside the wait for a session.
  package func hostEventFigures(
    within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostEventFigures {
    let call = StatementCall.hostEventFigures(rowsMax: HostEventFigures.rowsMax)
    return try await pool.query(call, within: limit, on: reactor).one().decoded()
  }
}

extension DatabaseExamination {
  package func hostEvents(on reactor: isolated Reactor) async throws(PostgresError) -> HostEventFigures {
    try await row(.hostEventFigures(rowsMax: HostEventFigures.rowsMax), on: reactor)
  }
}
