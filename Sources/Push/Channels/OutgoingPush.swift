package import FoundationEssentials
package import PushRules

/// One push to one target, before its channel gives it a form.
package struct OutgoingPush: Sendable {
  package let push: PreparedPush

  package let target: PushTarget

  package let subject: PushSubject

  package let userID: HostID

  /// When the event was committed, by the database's clock; microseconds since 1970.
  package let enqueuedAt: Int64

  /// The number for the app's icon; nil to leave it.
  package let badge: Int?

  /// The end of the push's life, in seconds since 1970.
  package let expiresAt: Int64

  /// Describes a push to a target.
  /// - Parameter unread: the user's unread messages; the push's own badge wins.
  package init(
    _ push: PreparedPush, to target: PushTarget, of userID: HostID, about subject: PushSubject, enqueuedAt: Int64,
    unread: Int?, expiresAt: Int64
  ) {
    self.push = push
    self.target = target
    self.subject = subject
    self.userID = userID
    self.enqueuedAt = enqueuedAt
    self.badge = push.badge ?? unread
    self.expiresAt = push.keptUntil ?? expiresAt
  }

  /// Whether it is meant to replace other pushes, which then need not be delivered any more.
  package var replacesOthers: Bool { push.collapseIdentifier.text != subject.collapseText }

  /// The id of the ledger's row, by which an app reports that the push was opened.
  package var logID: UUID { subject.logID(of: userID, enqueuedAt: enqueuedAt) }
}
