public import FoundationEssentials

/// What the database knows of one user and one event. Times as in ``EventFacts``.
public struct RecipientFacts: Equatable, Sendable, Decodable {
  /// The user.
  public var userID: UUID
  /// Whether the user is among those whom the event concerns, as of now.
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

  /// A user of whom nothing more is known.
  public init(userID: UUID, isParticipant: Bool = true, isActor: Bool = false) {
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
  /// What became of the push.
  public var decision: OutcomeDecision
  /// Why.
  public var reason: String?
  /// When the event was committed.
  public var enqueuedAt: Int64
  /// When it was last claimed; nil in rows that somebody else wrote.
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
  public var history: [HistoryEntry]
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
