package import FoundationEssentials
internal import Postgres
package import PushRules

/// An event that a process has claimed, to send it to the host.
package struct HostEvent: Equatable, Sendable {
  /// Its place in the order of its user.
  package var id: Int64
  /// Attempts so far, this one among them.
  package var attempt: Int
  /// What the host knows it by; the same in each attempt.
  package var webhookID: UUID
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

  package init(
    id: Int64, attempt: Int = 1, webhookID: UUID = UUID(), type: String, userID: HostID, occurredAt: Int64
  ) {
    self.id = id
    self.attempt = attempt
    self.webhookID = webhookID
    self.type = type
    self.userID = userID
    self.occurredAt = occurredAt
  }

  init(_ row: PostgresRow) throws(PostgresError) {
    self.init(
      id: try row.decode("id"), attempt: try row.decode("attempts"), webhookID: try row.decode("webhook_id"),
      type: try row.decode("type"), userID: try row.decode("user_id"), occurredAt: try row.decode("occurred_us"))
    pushID = try row.decode("log_id")
    subjectID = try row.decode("subject_id")
    kind = try row.decode("kind")
    reason = try row.decode("reason")
    channel = try row.decode("channel")
    device = try row.decode("device")
    sentAt = try row.decode("sent_us")
  }
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
package enum HostEventState: String, CaseIterable, Sendable {
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
package struct HostEventEntry: Equatable, Sendable {
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

  package init(
    state: HostEventState, type: String, kind: String?, userID: HostID, subjectID: HostID?, attempts: Int, status: Int?,
    error: String?, occurredAt: Int64, at: Int64
  ) {
    self.state = state
    self.type = type
    self.kind = kind
    self.userID = userID
    self.subjectID = subjectID
    self.attempts = attempts
    self.status = status
    self.error = error
    self.occurredAt = occurredAt
    self.at = at
  }

  init(_ row: PostgresRow) throws(PostgresError) {
    self.init(
      state: HostEventState(rawValue: try row.decode("state")) ?? .waiting, type: try row.decode("type"),
      kind: try row.decode("kind"), userID: try row.decode("user_id"), subjectID: try row.decode("subject_id"),
      attempts: try row.decode("attempts"), status: try row.decode("status"), error: try row.decode("error"),
      occurredAt: try row.decode("occurred_us"), at: try row.decode("next_us"))
  }
}

/// How many events are on their way to the host.
package struct HostEventFigures: Equatable, Sendable {
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

  init(_ row: PostgresRow) throws(PostgresError) {
    waiting = try row.decode("waiting")
    oldestAge = try row.duration("oldest_us").map { max(.zero, $0) }
    dead = try row.decode("dead")
    checks = try row.decode("checks")
    announced = try row.decode("announced")
  }
}
