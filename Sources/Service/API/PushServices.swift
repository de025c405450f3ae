package import Campaigns
internal import HTTP1
internal import HTTPTypes
package import Logging
package import Operations
internal import Postgres
package import PushPipeline
package import PushRules
package import PushStore
package import Reactors

/// What the handlers of one reactor use.
package struct PushServices {
  /// The database, for what apps, webhooks and other servers ask: over sessions that the pipeline does not use, so neither
  /// waits for the other.
  package let callers: PushDatabase

  /// The same database for operators' queries, over a separate pool: claims do not wait behind them.
  package let operators: PushDatabase

  /// The same database for counts of all users, over a pool of one session: they may take longer than an operator's query, one at
  /// a time.
  package let counts: PushDatabase

  package var idTypes: IDTypes { callers.idTypes }

  /// The pipeline to wake, and whose records to wait for.
  package let pipeline: DeliveryPipeline

  package let presence: PresenceWriter

  package let activity: ActivityWriter

  /// Whether the user's other devices learn of reads.
  package let isReadSyncEnabled: Bool

  /// Makes the campaigns look at the users who are enrolled; nil where campaigns are switched off. Any reactor may call it.
  package let wakeCampaigns: (() -> Void)?

  /// Answers what apps ask of slots; nil where that is switched off.
  package let slots: SlotScheduler?

  /// Whether this reactor can do its work; asked by `/readyz`.
  package let readiness: () -> [ReadinessCheck]

  package init(
    callers: PushDatabase, operators: PushDatabase, counts: PushDatabase, pipeline: DeliveryPipeline,
    isReadSyncEnabled: Bool = true,
    wakeCampaigns: (() -> Void)? = nil, slots: SlotScheduler? = nil,
    logger: Logger,
    readiness: @escaping () -> [ReadinessCheck]
  ) {
    self.callers = callers
    self.operators = operators
    self.counts = counts
    self.pipeline = pipeline
    presence = PresenceWriter(store: callers)
    activity = ActivityWriter(store: callers, logger: logger)
    self.isReadSyncEnabled = isReadSyncEnabled
    self.wakeCampaigns = wakeCampaigns
    self.slots = slots
    self.readiness = readiness
  }
}

extension PushServices {
  var slotScheduler: SlotScheduler {
    get throws(ProblemDetails) {
      guard let slots else { throw ProblemDetails(.notFound, detail: "This operation is off.") }
      return slots
    }
  }

  /// Waits for an event's outcome.
  ///
  /// The pipeline of this reactor says when it has recorded the event. Another reactor may have claimed it: the ledger is also
  /// asked, after 2 ms, 4 ms and so on, at most every quarter of a second.
  func outcome(
    of subject: PushSubject, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> EventStatus {
    let deadline = Reactor.now &+ limit.clampedNanoseconds
    var step = Duration.milliseconds(2)
    while true {
      let now = Reactor.now
      guard now < deadline else { return .pending }
      let wait = min(step, .nanoseconds(Int64(deadline - now)))
      await pipeline.waitForRecord(of: subject, wait, on: reactor)
      let status = try await callers.status(of: subject, on: reactor)
      if status != .pending { return status }
      step = min(step * 2, .milliseconds(250))
    }
  }
}

extension PushServices {
  /// Recipients of one event in an answer, and the recorded claims after which no more are added. Pushes wait while a reactor
  /// puts them into words, and a recipient may have forty claims, so both are bounded. `tacet explain`, which is a separate
  /// process, tells more.
  private static let recipientsExplainedMax = 100
  private static let entriesExplainedMax = 400

  /// Why the pushes of every event with a subject were sent or not, up to the bounds of one answer.
  /// - Parameters:
  ///   - kind: of one event; nil for all with this subject.
  ///   - userID: one recipient; nil for all.
  /// - Throws: `PostgresError`.
  package func explanations(
    ofSubject id: HostID, kind: String? = nil, userID: HostID? = nil, on reactor: isolated Reactor
  ) async throws -> [EventExplanation] {
    try await operators.records(
      ofSubject: id, kind: kind, userID: userID, recipientsMax: Self.recipientsExplainedMax,
      entriesMax: Self.entriesExplainedMax, on: reactor
    ).map(EventExplanation.init)
  }
}
