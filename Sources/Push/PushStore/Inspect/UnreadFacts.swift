package import FoundationEssentials

/// Whether a push is unread, and what the host knows of it.
package struct UnreadFacts: Equatable, Sendable, Decodable {
  /// How far it is; the raw values are those of the database.
  package enum State: String, Sendable, Decodable {
    /// It is looked at when it is due.
    case checkedLater = "checked_later"
    /// It was unread, and the host is told.
    case waiting
    /// The host has taken the event.
    case taken
    /// It was looked at before the event was sent.
    case cancelled
    /// The host has not taken the event for too long.
    case dead
  }

  package var logID: UUID
  package var state: State
  package var reason: String?
  package var attempts: Int
  /// The status of the host's last answer; nil without one.
  package var status: Int?
  package var error: String?
  /// When the push was accepted; nil before it is looked at.
  package var sentAt: Int64?
  /// When it is or was due, in microseconds since 1970.
  package var occurredAt: Int64
  /// When it is looked at, tried next, or has ended.
  package var at: Int64

  package init(logID: UUID, state: State, occurredAt: Int64, at: Int64, attempts: Int = 0, sentAt: Int64? = nil) {
    self.logID = logID
    self.state = state
    self.occurredAt = occurredAt
    self.at = at
    self.attempts = attempts
    self.sentAt = sentAt
  }
}
