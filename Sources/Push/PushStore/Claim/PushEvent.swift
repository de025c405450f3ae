package import FoundationEssentials
package import PushRules

/// A claimed piece of work: an event with all its recipients, or what remains of one for a single recipient.
package struct PushEvent: Sendable {
  /// Which table the claim was made on, and so which row the record removes.
  package enum Origin: Equatable, Sendable {
    /// A new event. Recipients who are in the ledger already are left out.
    case inbox
    /// A hold that has ended or a retry that is due, for one recipient.
    case delivery
  }

  package let subject: PushSubject

  package let origin: Origin

  /// Claims so far, this one included. It fences the record: a later claim has a higher number.
  package let attempts: Int

  /// When the event was committed, by the database's clock; microseconds since 1970.
  package let enqueuedAt: Int64

  /// When this claim was made, by the database's clock; microseconds since 1970.
  package let claimedAt: Int64

  /// What it says, as its kind reads it; nil when it has been deleted.
  package let content: (any PushContent)?

  /// When its life began, by the database's clock: when it was committed, or for when its push was asked; microseconds since
  /// 1970.
  package let datedAt: Int64

  package internal(set) var recipients: [PushRecipient]

  /// The shard of its conversation, as `tacet.shards` numbers it.
  package internal(set) var shard: Int32 = 0

  /// Whether the claim has leased it. An owner takes new messages of its shards without a lease, and their rows have no attempts.
  package internal(set) var isLeased = true

  /// Whether a former owner of its conversation may have had it in hand, and sent it without a record.
  package var isTakenOver = false

  /// Whether only a part of the recipients was claimed; the others come with a later claim.
  package internal(set) var hasMore = false

  /// When the database answered the claim, by its clock; microseconds since 1970. What the look
  /// itself has taken is known by it.
  package internal(set) var answeredAt: Int64 = 0

  /// The conversation or surface that its recipients may be looking at; nil when the event is gone or shows none.
  package var surfaceID: HostID? { content?.surfaceID }
}

/// One recipient of an event, with everything a decision needs.
package struct PushRecipient: Equatable, Sendable {
  package let userID: HostID

  package let situation: RecipientSituation

  /// The user's unread messages, absolute; nil when they were not counted, and the app's icon keeps its badge.
  package private(set) var badge: Int?

  /// Where this push has still to go; at most ``ClaimLimits/devicesMax``.
  package let targets: [PushTarget]

  /// Targets that have it from an earlier attempt, by their ``PushTarget/mark``.
  package let acceptedDevices: [String]

  /// Targets that are not to be tried before their time, by their ``PushTarget/mark``.
  package internal(set) var deviceWaits: [String: DeviceWait] = [:]

  /// How often APNs' answers have put this push off; what its lane went through does not count.
  package internal(set) var retries = 0

  /// What ended its hold before the hold's time, as ``HistoryEntry/releasedBy``; nil when nothing did.
  package internal(set) var releasedBy: String?

  /// When that was, by the database's clock; microseconds since 1970. Nil when nothing ended it.
  package internal(set) var releasedAt: Int64?
}

extension PushRecipient {
  package var isParticipant: Bool { situation.isParticipant }

  /// Sets the badge to what the database has counted, from 0 to a bound.
  mutating func setBadge(_ count: Int64?, max: Int) {
    badge = count.map { min(Int(clamping: Swift.max(0, $0)), max) }
  }
}

extension PushEvent {
  /// The attempts that its row has, by which the record knows it again.
  var rowAttempts: Int { isLeased ? attempts : 0 }

  /// The id of the ledger's row about one recipient.
  package func logID(of userID: HostID) -> UUID { subject.logID(of: userID, enqueuedAt: enqueuedAt) }
}
