package import FoundationEssentials
package import PushRules

/// How the service fares at one moment: what an operator looks at first.
package struct ServiceOverview: Equatable, Sendable {
  package var ledger: LedgerFigures
  package var queues: QueueOverview
  /// Routes that pushes wait for, fifty at the most.
  package var lanes: [WaitingLane]
  /// What was set aside last, the newest first, twenty at the most.
  package var parked: [ParkedWork]
  /// Processes that were seen in the last minute and have not stopped, the last one seen first, fifty at the most.
  package var instances: [LiveInstance]
  /// The newest pushes, the newest first.
  package var newest: [LedgerEntry]
}

/// The outcomes of the last hour's pushes, or of as much of the hour as the newest 20 000 cover.
package struct LedgerFigures: Equatable, Sendable {
  /// How many recipients each decision concerned.
  package struct Counts: Equatable, Sendable {
    package var sent = 0, held = 0, skipped = 0, failed = 0

    package var total: Int { sent + held + skipped + failed }

    package init() {}
  }

  /// From the commit to APNs' acceptance, of pushes that were sent at the first look; nil when there was none.
  package struct Latency: Equatable, Sendable {
    package let median: Duration
    package let percentile99: Duration
  }

  /// How many had this outcome.
  package struct Share: Equatable, Sendable {
    package let decision: OutcomeDecision
    /// Nil for a plain success.
    package let reason: String?
    /// Recipients.
    package let count: Int
  }

  /// How far back it reaches: an hour, unless the newest rows cover less.
  package var span = Duration.seconds(3600)
  /// Of the whole span.
  package var counts = Counts()
  /// Of the whole span.
  package var latency: Latency?
  /// Pushes sent in the last minute, or in the span where that is shorter.
  package var sentLastMinute = 0
  package var latencyLastMinute: Latency?
  /// The span in sixty equal parts, the oldest first.
  package var slices = [Counts](repeating: Counts(), count: 60)
  /// By decision and reason, the most frequent first.
  package var shares: [Share] = []

  package init() {}
}

/// What is still to be done. Counts end at 10 001, which means more than 10 000.
package struct QueueOverview: Equatable, Sendable {
  /// Work that has been due for so long finds no process, or too few: a claim takes milliseconds, and polls come
  /// within a second.
  package static let overdueFrom = Duration.seconds(10)

  /// Events that are not decided.
  package let inbox: Int
  /// How long ago the oldest of them was committed; negative for one that is not due before a moment to come. Nil without.
  package let oldestAge: Duration?
  package let holds: Int
  /// How long until the first of them is looked at again; negative when it is overdue.
  package let nextHold: Duration?
  /// Pushes that APNs has put off.
  package let retries: Int
  /// How long until the first of them is tried again; negative when it is overdue.
  package let nextRetry: Duration?
  /// Whether there are more holds or retries, due later than those counted.
  package let hasMoreWork: Bool
  package let parked: Int
}

/// A route to APNs that pushes wait for.
package struct WaitingLane: Equatable, Sendable {
  /// App and environment.
  package let name: String
  /// Pushes; 10 001 means more than 10 000.
  package let waiting: Int
  /// How long ago the oldest of them was committed.
  package let oldestAge: Duration
  /// Why it waits; nil when the ledger does not say.
  package let reason: String?
}

/// A process of the service that works, or did so a minute ago.
package struct LiveInstance: Equatable, Sendable {
  package let host: String
  package let processID: Int
  package let version: String
  /// When it was started; microseconds since 1970.
  package let startedAt: Int64
  /// How long ago it said that it lives.
  package let seenAge: Duration
}

/// Work that was set aside because it can never succeed.
package struct ParkedWork: Equatable, Sendable {
  /// When; microseconds since 1970.
  package let parkedAt: Int64
  package let subject: PushSubject
  /// The recipient; nil for an event that could not be looked at.
  package let userID: HostID?
  package let reason: String
}

/// One row of the ledger: a push and its outcome.
package struct LedgerEntry: Equatable, Sendable {
  package let id: UUID
  /// When the event was committed; microseconds since 1970.
  package let enqueuedAt: Int64
  /// The id of what the push is about; nil for rows without one.
  package let subjectID: HostID?
  package let kind: String
  package let userID: HostID
  package let decision: OutcomeDecision
  /// Why, nil for a plain success.
  package let reason: String?
  /// Until when it is held; microseconds since 1970, nil unless it is.
  package let heldUntil: Int64?
  /// From the commit to APNs' first acceptance, holds included; nil when there was none.
  package let way: Duration?
  package let devicesAccepted: Int
}
