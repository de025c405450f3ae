public import FoundationEssentials

/// What the database knows of an event as a whole. All times are microseconds since 1970 by the database's clock.
public struct EventFacts: Equatable, Sendable, Decodable {
  /// When it was read.
  public var now: Int64
  /// The id of its subject.
  public var subjectID: UUID
  /// Its kind.
  public var kind: String
  /// What is there of it; nil when it is gone.
  public var source: Source?
  /// Its row in the inbox: nobody has recorded it.
  public var inbox: InboxFacts?
  /// As an event that was set aside, whom it is for not being known.
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
  /// of failure it was. ``source`` and whom the event concerns are then not known.
  public var hostFailure: String?

  /// How many rows of the ledger are counted at the most. A look must not grow with a flooded event.
  public static let countMax = 10_000

  /// The host's row.
  public struct Source: Equatable, Sendable, Decodable {
    /// As the host says; nil where it says nothing.
    public var createdAt: Int64?
    /// Who sent or did it; nil when nobody is known.
    public var actorID: UUID?

    /// Describes a row.
    public init(createdAt: Int64? = nil, actorID: UUID? = nil) {
      self.createdAt = createdAt
      self.actorID = actorID
    }
  }

  /// An event of which nothing more is known.
  public init(now: Int64, subjectID: UUID, kind: String) {
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
