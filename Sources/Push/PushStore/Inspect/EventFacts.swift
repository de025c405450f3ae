public import FoundationEssentials
public import PushKinds

/// What the database knows of an event as a whole. All times are microseconds since 1970 by the database's clock.
public struct EventFacts: Equatable, Sendable, Decodable {
  /// When it was read.
  public var now: Int64
  /// The id of its subject.
  public var subjectID: HostID
  /// Its kind.
  public var kind: String
  /// What is there of it; nil when it is gone.
  public var source: Source?
  /// Its row in the inbox, which has not been recorded.
  public var inbox: InboxFacts?
  /// Its parked row, without recipients.
  public var parked: ParkedFacts?
  /// When it was committed, by a record or by what waits; nil when neither is there.
  public var enqueuedAt: Int64?
  /// Ledger rows, counted up to ``countMax``.
  public var recordedCount: Int
  /// Numbers of claims that left a record, of whomever, up to what ``countMax`` rows say.
  public var recordedClaims: [Int]
  /// Errors of the triggers within some seconds of it.
  public var triggerFailures: [TriggerFailureFacts]
  /// Of chat messages: how PostgreSQL fires the trigger: `O`, `D`, `R` or `A` as in `pg_trigger.tgenabled`, or
  /// `missing`; nil for other kinds.
  public var trigger: String?
  /// When this database was first given its trigger; nil when that was not noted.
  public var watchedSince: Int64?
  /// The age of the oldest row of the whole ledger; nil when it is empty.
  public var ledgerSince: Int64?
  /// When a service was last seen; nil for never.
  public var serviceSeenAt: Int64?
  /// Set when a function of the host failed and Tacet's own tables were read alone: PostgreSQL's condition, or what kind
  /// of failure it was. ``source`` and the recipients are then unknown.
  public var hostFailure: String?

  /// How many rows of the ledger are counted at the most. A look must not grow with a flooded event.
  public static let countMax = 10_000

  /// The host's row.
  public struct Source: Equatable, Sendable, Decodable {
    /// As the host says; nil where it says nothing.
    public var createdAt: Int64?
    /// Who sent or did it; nil when unknown.
    public var actorID: HostID?

    /// Describes a row.
    public init(createdAt: Int64? = nil, actorID: HostID? = nil) {
      self.createdAt = createdAt
      self.actorID = actorID
    }
  }

  /// An event of which nothing more is known.
  public init(now: Int64, subjectID: HostID, kind: String) {
    self.now = now
    self.subjectID = subjectID
    self.kind = kind
    recordedCount = 0
    recordedClaims = []
    triggerFailures = []
  }

  /// Whether there is any trace of it.
  public var isKnown: Bool { source != nil || inbox != nil || parked != nil || enqueuedAt != nil }
}

/// A row that waits to be claimed, or whose claim is not recorded.
public struct InboxFacts: Equatable, Sendable, Decodable {
  /// When the event was committed.
  public var enqueuedAt: Int64
  /// When it may be claimed; the end of the lease of a claim.
  public var availableAt: Int64
  /// Claims so far.
  public var attempts: Int
  /// Claims whose lease ran out.
  public var rescues: Int
  /// Whether a claim holds it.
  public var isClaimed: Bool
  /// Why it could not be looked at.
  public var error: String?
}

/// What was set aside.
public struct ParkedFacts: Equatable, Sendable, Decodable {
  /// When.
  public var parkedAt: Int64
  /// Claims until then.
  public var attempts: Int
  /// Why.
  public var reason: String
}

/// An error that a trigger kept from the host.
public struct TriggerFailureFacts: Equatable, Sendable, Decodable {
  /// When.
  public var failedAt: Int64
  /// PostgreSQL's condition; its text may quote the host's data and is left in the table.
  public var sqlState: String
  /// Whether it kept this event from the inbox.
  public var concernsEvent: Bool
}

/// A process of the service.
public struct InstanceFacts: Equatable, Sendable, Decodable {
  /// As the records name it.
  public var id: String
  /// Its machine.
  public var host: String
  /// Its process there.
  public var pid: Int

  /// Names a process.
  public init(id: String, host: String, pid: Int) {
    self.id = id
    self.host = host
    self.pid = pid
  }
}

/// What the database knows of one user and one event. Times as in ``EventFacts``.
public struct RecipientFacts: Equatable, Sendable, Decodable {
  /// The user.
  public var userID: HostID
  /// Whether the user is a recipient of the event, as of now.
  public var isParticipant: Bool
  /// Whether the event is the user's own.
  public var isActor: Bool
  /// The ledger's row; nil when nothing was decided, or it is not kept any more.
  public var ledger: LedgerFacts?
  /// What remains to be done.
  public var delivery: DeliveryFacts?
  /// What was set aside.
  public var parked: ParkedFacts?
  /// What the user wants now of a push like this.
  public var preferences: PreferenceFacts?
  /// The user's devices now, those that were dropped last among them.
  public var devices: [DeviceFacts]
  /// Whether the host was told that the push is unread; nil where nobody asked.
  public var unread: UnreadFacts?

  /// A user without anything else known.
  public init(userID: HostID, isParticipant: Bool = true, isActor: Bool = false) {
    self.userID = userID
    self.isParticipant = isParticipant
    self.isActor = isActor
    devices = []
  }
}

/// A row of the ledger.
public struct LedgerFacts: Equatable, Sendable, Decodable {
  /// Its id, which the push carries.
  public var id: UUID
  /// The outcome of the push.
  public var decision: OutcomeDecision
  /// Why.
  public var reason: String?
  /// When the event was committed.
  public var enqueuedAt: Int64
  /// When it was last claimed; nil in rows that another program wrote.
  public var claimedAt: Int64?
  /// When it is looked at again.
  public var heldUntil: Int64?
  /// When APNs first accepted it.
  public var sentAt: Int64?
  /// What made the service look, the last time.
  public var wokenBy: String?
  /// Devices that have it.
  public var devicesAccepted: Int
  /// Claims so far.
  public var attempts: Int
  /// Whether the user opened it.
  public var opened: Bool
  /// When; nil when only that is known.
  public var openedAt: Int64?
  /// Each recorded claim; empty in rows of a service before it kept them.
  @ReadableHistory public var history: [HistoryEntry]
}

/// A row of the queue.
public struct DeliveryFacts: Equatable, Sendable, Decodable {
  /// `held`, `retryable` or `waiting`.
  public var state: String
  /// When it is looked at again; the end of the lease of a claim.
  public var dueAt: Int64
  /// Whether a claim holds it.
  public var isClaimed: Bool
  /// Claims so far.
  public var attempts: Int
  /// Claims whose lease ran out.
  public var rescues: Int
  /// The route that is waited for.
  public var lane: String?
  /// What has ended the hold, and when; nil while nothing has.
  public var releasedBy: String?
  /// When.
  public var releasedAt: Int64?
  /// Why it could not be looked at.
  public var error: String?
}

/// What a user wants, as of now.
public struct PreferenceFacts: Equatable, Sendable, Decodable {
  /// No pushes of this kind.
  public var isOptedOut: Bool
  /// Nothing from here.
  public var isMuted: Bool
  /// Only what mentions the user.
  public var wantsMentionsOnly: Bool
  /// How long quiet hours still last, in microseconds; nil outside of them.
  public var quietHoursRemaining: Int64?
}

/// A registered device.
public struct DeviceFacts: Equatable, Sendable, Decodable {
  /// The first eight characters of its token.
  public var device: String
  /// Its app; nil means the service's default.
  public var app: String?
  /// Where its token works; nil means the service's default.
  public var environment: String?
  /// When it was dropped; nil while it is in use.
  public var droppedAt: Int64?
  /// Why.
  public var dropReason: String?

  /// Describes a device.
  public init(
    device: String, app: String? = nil, environment: String? = nil, droppedAt: Int64? = nil, dropReason: String? = nil
  ) {
    self.device = device
    self.app = app
    self.environment = environment
    self.droppedAt = droppedAt
    self.dropReason = dropReason
  }
}
