public import FoundationEssentials
public import PushKinds

/// How the service fares at one moment: what an operator looks at first.
public struct ServiceOverview: Equatable, Sendable {
  /// The outcomes of the last hour's pushes.
  public var ledger: LedgerFigures
  /// What is still to be done.
  public var queues: QueueOverview
  /// Routes that pushes wait for, fifty at the most.
  public var lanes: [WaitingLane]
  /// What was set aside last, the newest first, twenty at the most.
  public var parked: [ParkedWork]
  /// Processes that were seen in the last minute and have not stopped, the last one seen first, fifty at the most.
  public var instances: [LiveInstance]
  /// The newest pushes, the newest first.
  public var newest: [LedgerEntry]
}

/// The outcomes of the last hour's pushes, or of as much of the hour as the newest 20 000 cover.
public struct LedgerFigures: Equatable, Sendable {
  /// How many recipients each decision concerned.
  public struct Counts: Equatable, Sendable {
    /// Of each decision.
    public var sent = 0, held = 0, skipped = 0, failed = 0

    /// Of all together.
    public var total: Int { sent + held + skipped + failed }

    /// No push at all.
    public init() {}
  }

  /// From the commit to APNs' acceptance, of pushes that were sent at the first look; nil when there was none.
  public struct Latency: Equatable, Sendable {
    /// Half of them were as quick as this.
    public let median: Duration
    /// All but a hundredth of them.
    public let percentile99: Duration
  }

  /// How many had this outcome.
  public struct Share: Equatable, Sendable {
    /// The outcome.
    public let decision: OutcomeDecision
    /// Nil for a plain success.
    public let reason: String?
    /// Recipients.
    public let count: Int
  }

  /// How far back it reaches: an hour, unless the newest rows cover less.
  public var span = Duration.seconds(3600)
  /// Of the whole span.
  public var counts = Counts()
  /// Of the whole span.
  public var latency: Latency?
  /// Pushes sent in the last minute, or in the span where that is shorter.
  public var sentLastMinute = 0
  /// Of the last minute.
  public var latencyLastMinute: Latency?
  /// The span in sixty equal parts, the oldest first.
  public var slices = [Counts](repeating: Counts(), count: 60)
  /// By decision and reason, the most frequent first.
  public var shares: [Share] = []

  /// An hour in which nothing happened.
  public init() {}
}

/// What is still to be done. Counts end at 10 001, which means more than 10 000.
public struct QueueOverview: Equatable, Sendable {
  /// Work that has been due for so long finds no process, or too few: a claim takes milliseconds, and polls come
  /// within a second.
  public static let overdueFrom = Duration.seconds(10)

  /// Events that are not decided.
  public let inbox: Int
  /// How long ago the oldest of them was committed; negative for one that is not due before a moment to come. Nil without.
  public let oldestAge: Duration?
  /// Pushes held back.
  public let holds: Int
  /// How long until the first of them is looked at again; negative when it is overdue.
  public let nextHold: Duration?
  /// Pushes that APNs has put off.
  public let retries: Int
  /// How long until the first of them is tried again; negative when it is overdue.
  public let nextRetry: Duration?
  /// Whether there are more holds or retries, due later than those counted.
  public let hasMoreWork: Bool
  /// What was set aside.
  public let parked: Int
}

/// A route to APNs that pushes wait for.
public struct WaitingLane: Equatable, Sendable {
  /// App and environment.
  public let name: String
  /// Pushes; 10 001 means more than 10 000.
  public let waiting: Int
  /// How long ago the oldest of them was committed.
  public let oldestAge: Duration
  /// Why it waits; nil when the ledger does not say.
  public let reason: String?
}

/// A process of the service that works, or did so a minute ago.
public struct LiveInstance: Equatable, Sendable {
  /// The machine's name, and the process's number on it.
  public let host: String
  /// See ``host``.
  public let processID: Int
  /// Of the service.
  public let version: String
  /// When it was started; microseconds since 1970.
  public let startedAt: Int64
  /// How long ago it said that it lives.
  public let seenAge: Duration
}

/// Work that was set aside because it can never succeed.
public struct ParkedWork: Equatable, Sendable {
  /// When; microseconds since 1970.
  public let parkedAt: Int64
  /// What it is about.
  public let subject: PushSubject
  /// The recipient; nil for an event that could not be looked at.
  public let userID: HostID?
  /// Why.
  public let reason: String
}

/// One row of the ledger: a push and its outcome.
public struct LedgerEntry: Equatable, Sendable {
  /// The row's.
  public let id: UUID
  /// When the event was committed; microseconds since 1970.
  public let enqueuedAt: Int64
  /// The id of what the push is about; nil for rows without one.
  public let subjectID: HostID?
  /// The kind of event.
  public let kind: String
  /// The recipient.
  public let userID: HostID
  /// The outcome.
  public let decision: OutcomeDecision
  /// Why, nil for a plain success.
  public let reason: String?
  /// Until when it is held; microseconds since 1970, nil unless it is.
  public let heldUntil: Int64?
  /// From the commit to APNs' first acceptance, holds included; nil when there was none.
  public let way: Duration?
  /// Devices for which APNs accepted it.
  public let devicesAccepted: Int
}
