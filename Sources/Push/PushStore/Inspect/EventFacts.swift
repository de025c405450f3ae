package import FoundationEssentials
package import PushRules

/// What the database knows of an event as a whole. All times are microseconds since 1970 by the database's clock.
package struct EventFacts: Equatable, Sendable, Decodable {
  /// When it was read.
  package var now: Int64
  package var subjectID: HostID
  package var kind: String
  /// What is there of it; nil when it is gone.
  package var source: Source?
  /// Its row in the inbox, which has not been recorded.
  package var inbox: InboxFacts?
  /// Its parked row, without recipients.
  package var parked: ParkedFacts?
  /// When it was committed, by a record or by what waits; nil when neither is there.
  package var enqueuedAt: Int64?
  /// Ledger rows, counted up to ``countMax``.
  package var recordedCount = 0
  /// Numbers of claims that left a record, of whomever, up to what ``countMax`` rows say.
  package var recordedClaims: [Int] = []
  /// Errors of the triggers within some seconds of it.
  package var triggerFailures: [TriggerFailureFacts] = []
  /// Of chat messages: how PostgreSQL fires the trigger: `O`, `D`, `R` or `A` as in `pg_trigger.tgenabled`, or
  /// `missing`; nil for other kinds.
  package var trigger: String?
  /// When this database was first given its trigger; nil when that was not noted.
  package var watchedSince: Int64?
  /// The age of the oldest row of the whole ledger; nil when it is empty.
  package var ledgerSince: Int64?
  /// The process that what waits of it belongs to; nil where nothing waits, or nobody owns it.
  package var owner: OwnerFacts?
  /// When a service was last seen; nil for never.
  package var serviceSeenAt: Int64?
  /// Set when a function of the host failed and Tacet's own tables were read alone: PostgreSQL's condition, or what kind
  /// of failure it was. ``source`` and the recipients are then unknown.
  package var hostFailure: String?

  /// How many rows of the ledger are counted at the most. A look must not grow with a flooded event.
  package static let countMax = 10_000

  /// The host's row.
  package struct Source: Equatable, Sendable, Decodable {
    /// As the host says; nil where it says nothing.
    package var createdAt: Int64?
    /// Who sent or did it; nil when unknown.
    package var actorID: HostID?
  }

  package var isKnown: Bool { source != nil || inbox != nil || parked != nil || enqueuedAt != nil }
}

/// A row that waits to be claimed, or whose claim is not recorded.
package struct InboxFacts: Equatable, Sendable, Decodable {
  /// When the event was committed.
  package var enqueuedAt: Int64
  /// When it may be claimed; the end of the lease of a claim.
  package var availableAt: Int64
  /// Claims so far. The owner of a message's conversation takes it without one.
  package var attempts: Int
  /// Claims whose lease ran out.
  package var rescues: Int
  package var isClaimed: Bool
  /// Why it could not be looked at.
  package var error: String?
}

/// What was set aside.
package struct ParkedFacts: Equatable, Sendable, Decodable {
  package var parkedAt: Int64
  /// Claims until then.
  package var attempts: Int
  package var reason: String
}

/// An error that a trigger kept from the host.
package struct TriggerFailureFacts: Equatable, Sendable, Decodable {
  package var failedAt: Int64
  /// PostgreSQL's condition; its text may quote the host's data and is left in the table.
  package var sqlState: String
  /// Whether it kept this event from the inbox.
  package var concernsEvent: Bool
}

/// A process of the service.
package struct InstanceFacts: Equatable, Sendable, Decodable {
  /// As the records name it.
  package var id: String
  package var host: String
  package var pid: Int
}

/// The process that owns a shard.
package struct OwnerFacts: Equatable, Sendable, Decodable {
  package var id: String
  /// Nil, as its number, where it is not known any more.
  package var host: String?
  package var pid: Int?
  /// Until when it is the owner without another renewal; nil where that is not known any more.
  package var leaseUntil: Int64?
}

/// What the database knows of one user and one event. Times as in ``EventFacts``.
package struct RecipientFacts: Equatable, Sendable, Decodable {
  package var userID: HostID
  /// Whether the user is a recipient of the event, as of now.
  package var isParticipant = true
  package var isActor = false
  /// The ledger's row; nil when nothing was decided, or it is not kept any more.
  package var ledger: LedgerFacts?
  package var delivery: DeliveryFacts?
  package var parked: ParkedFacts?
  /// What the user wants now of a push like this.
  package var preferences: PreferenceFacts?
  /// The user's devices now, those that were dropped last among them.
  package var devices: [DeviceFacts] = []
  /// Whether the host was told that the push is unread; nil where nobody asked.
  package var unread: UnreadFacts?
}

package struct LedgerFacts: Equatable, Sendable, Decodable {
  /// Its id, which the push carries.
  package var id: UUID
  package var decision: OutcomeDecision
  package var reason: String?
  /// When the event was committed.
  package var enqueuedAt: Int64
  /// When it was last claimed; nil in rows that another program wrote.
  package var claimedAt: Int64?
  package var heldUntil: Int64?
  /// When APNs first accepted it.
  package var sentAt: Int64?
  /// What made the service look, the last time.
  package var wokenBy: String?
  package var devicesAccepted: Int
  /// Claims so far.
  package var attempts: Int
  package var opened: Bool
  /// When; nil when only that is known.
  package var openedAt: Int64?
  /// Each recorded claim; empty in rows of a service before it kept them.
  @ReadableHistory package var history: [HistoryEntry]
}

/// A row of the queue.
package struct DeliveryFacts: Equatable, Sendable, Decodable {
  /// `held`, `retryable` or `waiting`.
  package var state: String
  /// When it is looked at again; the end of the lease of a claim.
  package var dueAt: Int64
  package var isClaimed: Bool
  /// Claims so far.
  package var attempts: Int
  /// Claims whose lease ran out.
  package var rescues: Int
  /// The route that is waited for.
  package var lane: String?
  /// What has ended the hold, and when; nil while nothing has.
  package var releasedBy: String?
  package var releasedAt: Int64?
  /// Why it could not be looked at.
  package var error: String?
}

/// What a user wants, as of now.
package struct PreferenceFacts: Equatable, Sendable, Decodable {
  /// No pushes of this kind.
  package var isOptedOut: Bool
  /// Nothing from here.
  package var isMuted: Bool
  package var wantsMentionsOnly: Bool
  /// How long quiet hours still last, in microseconds; nil outside of them.
  package var quietHoursRemaining: Int64?
}

package struct DeviceFacts: Equatable, Sendable, Decodable {
  /// The first eight characters of its token.
  package var device: String
  /// Its app; nil means the service's default.
  package var app: String?
  /// Where its token works; nil means the service's default.
  package var environment: String?
  /// When it was dropped; nil while it is in use.
  package var droppedAt: Int64?
  package var dropReason: String?
}

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
  package var attempts = 0
  /// The status of the host's last answer; nil without one.
  package var status: Int?
  package var error: String?
  /// When the push was accepted; nil before it is looked at.
  package var sentAt: Int64?
  /// When it is or was due, in microseconds since 1970.
  package var occurredAt: Int64
  /// When it is looked at, tried next, or has ended.
  package var at: Int64
}
