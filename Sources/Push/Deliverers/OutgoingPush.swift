internal import APNSCore
public import FoundationEssentials
public import PushKinds

/// One push to one target, before its channel gives it a form.
public struct OutgoingPush: Sendable {
  /// What it says, encoded as far as its recipients share it.
  public let push: PreparedPush

  /// Where it goes.
  public let target: PushTarget

  /// What it is about.
  public let subject: PushSubject

  /// Whom it is for.
  public let userID: HostID

  /// When the event was committed, by the database's clock; microseconds since 1970.
  public let enqueuedAt: Int64

  /// The number for the app's icon; nil to leave it.
  public let badge: Int?

  /// The end of the push's life, in seconds since 1970.
  public let expiresAt: Int64

  /// Describes a push to a target.
  /// - Parameter unread: the user's unread messages; the push's own badge wins.
  public init(
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
  public var replacesOthers: Bool { push.collapseIdentifier.text != subject.collapseText }

  /// The id of the ledger's row, by which an app reports that the push was opened.
  public var logID: UUID { subject.logID(of: userID, enqueuedAt: enqueuedAt) }
}
