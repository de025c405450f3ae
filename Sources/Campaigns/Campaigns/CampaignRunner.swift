package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// Runs the campaigns: enrols users, prepares what slots say before it is due, and queues the pushes of all occasions that are.
///
/// Each process has one, beside the pipeline that sends the queued pushes. Any number may share a database: each hour is served
/// once, slots and occasions are leased, and a commit queues the push of an occasion in the transaction that ends it. When a
/// process dies, others take over as soon as its leases expire.
package final class CampaignRunner {
  /// What is done concurrently: nothing waits for a host's content, a model, or a whole audience but what needs it.
  enum Duty: CaseIterable {
    /// Enrols the users whose hour has come, and decides what is said to each.
    case hours
    /// Has the texts written that events of watched rows wait for.
    case rowTexts
    /// Gives users the slots of the campaigns whose audience they are in.
    case audiences
    /// Renders what slots will say.
    case preparation
    /// Pushes what slots say.
    case pushes
  }

  let store: PushDatabase
  let audiences: PushDatabase
  let pace: CampaignPace
  let metrics: CampaignMetrics
  let logger: Logger
  let sleep: DatabaseSleep?
  let pauses: [Duty: WakefulPause]
  let renderer: SlotRenderer
  let drafts: SlotDraftWriter
  private let writer: OccasionWriter
  private let rowTexts: RowTextWriter
  private let contents: ContentFetcher?
  private let queued: (isolated Reactor) -> Void
  private let allEnded = Signal()
  private let ended = Signal()
  private(set) var isStopped = false
  private var isRunning = false
  private var batch: WorkBatch<Occasion>?
  private(set) var catalogue = CampaignCatalogue()
  private var catalogueReadAt: UInt64?
  var zones: [String: (names: [String], readAt: UInt64)] = [:]
  var retries = CampaignRetries()
  /// When a campaign's audience was last followed.
  var followedAt: [String: UInt64] = [:]
  var enrolUsers: Int
  /// When a look last found something that was due.
  private var foundAt: UInt64?
  /// Pushes in a second at present, and when that was decided.
  private var rate: (pushesPerSecond: Int, decidedAt: UInt64)?

  /// Makes a runner; ``run(on:)`` starts it.
  /// - Parameters:
  ///   - audiences: asks for whole audiences, which may take long; see ``PushDatabase/analysisPool(_:logger:)``.
  ///   - contents: fetches what campaigns with a content URL say; nil where nothing is fetched.
  ///   - writer: writes what campaigns with a composer say; nil without a language model.
  ///   - limits: the writer's daily budget.
  ///   - sleep: between its looks it is known when something is due, and nothing is asked before.
  ///   - queued: called after pushes were queued, to wake the pipeline.
  package init(
    store: PushDatabase, audiences: PushDatabase? = nil, contents: ContentFetcher? = nil, writer: (any CheckInWriter)?,
    limits: ModelUsageLimits, pace: CampaignPace = CampaignPace(), metrics: CampaignMetrics = CampaignMetrics(),
    sleep: DatabaseSleep? = nil, logger: Logger, queued: @escaping (isolated Reactor) -> Void
  ) {
    self.store = store
    self.audiences = audiences ?? store
    self.contents = contents
    self.pace = pace
    self.metrics = metrics
    self.logger = logger
    self.queued = queued
    self.sleep = sleep
    enrolUsers = pace.enrolUsersMin
    pauses = Dictionary(uniqueKeysWithValues: Duty.allCases.map { ($0, WakefulPause(sleep)) })
    let texts = ModelTexts(store: store, writer: writer, limits: limits, logger: logger)
    self.writer = OccasionWriter(store: store, texts: texts, logger: logger)
    rowTexts = RowTextWriter(store: store, texts: texts)
    drafts = SlotDraftWriter(texts: texts, concurrency: pace.concurrentDrafts, reserve: pace.draftReserve)
    renderer = SlotRenderer(store: store, contents: contents, logger: logger)
  }

  /// Works until ``stop(on:)``.
  package func run(on reactor: isolated Reactor) async {
    isRunning = true
    // A page of an audience is not waited for: it is one statement, which the next process makes again.
    var working = Duty.allCases.count - 1
    for duty in Duty.allCases {
      reactor.start {
        await self.work(duty, on: reactor)
        if duty == .audiences { return }
        working -= 1
        if working == 0 { self.allEnded.signal(on: reactor) }
      }
    }
    _ = await allEnded.wait(on: reactor)
    isRunning = false
    ended.signal(on: reactor)
  }

  private func work(_ duty: Duty, on reactor: isolated Reactor) async {
    while !isStopped {
      let wait: (time: Duration, longest: Duration?)
      switch duty {
      case .hours:
        await look(on: reactor)
        let time = pace.hourInterval * .random(in: 0.8...1.2)
        wait = (time, isStopped ? nil : await timeUntilNextLook(on: reactor).map { max(.zero, $0 - time) })
      case .rowTexts:
        await writeRowTexts(on: reactor)
        wait = (pace.rowInterval, nil)
      case .audiences:
        await followAudiences(on: reactor)
        wait = self.wait(nil)
      case .preparation: wait = self.wait(await prepareAll(on: reactor))
      case .pushes: wait = self.wait(await pushAll(on: reactor))
      }
      if !isStopped { _ = await pauses[duty]?.wait(for: wait.time, longest: wait.longest, on: reactor) }
    }
  }

  /// - Parameter time: how long there is nothing to do; nil for ever, as far as is known.
  private func wait(_ time: Duration?) -> (time: Duration, longest: Duration?) {
    let step = max(min(time ?? pace.lookInterval, pace.lookInterval), .milliseconds(10))
    return (step, time.map { max($0 - step, .zero) })
  }

  /// Reads the campaigns anew and looks at once, because an operator has asked for a run.
  package func wake(on reactor: isolated Reactor) {
    catalogueReadAt = nil
    for pause in pauses.values { pause.signal(on: reactor) }
  }

  /// Begins no further batch. What is in progress is decided.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    batch?.stop()
    for pause in pauses.values { pause.signal(on: reactor) }
  }

  /// Waits until what is in progress is decided, which takes as long as a model may, and cancels fetches that last longer.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let isDone = isRunning ? await ended.wait(for: limit, on: reactor) : true
    contents?.close(on: reactor)
    return isDone
  }

  /// - Parameter age: at which the campaigns are read again.
  func updateCatalogue(after age: Duration, on reactor: isolated Reactor) async throws(PostgresError) {
    if let catalogueReadAt, Reactor.now - catalogueReadAt < age.clampedNanoseconds { return }
    let askedAt = Reactor.now
    let read = try await catalogue.updated(from: store, logger: logger, on: reactor)
    // Another duty may have asked later, and been answered before.
    guard catalogueReadAt.map({ $0 <= askedAt }) ?? true else { return }
    (catalogue, catalogueReadAt) = (read, askedAt)
  }

  /// Reads the campaigns anew where there are occasions of one that is not known: it may be active since they were read last.
  func know(campaignsOf occasions: [Occasion], on reactor: isolated Reactor) async throws(PostgresError) {
    guard occasions.contains(where: { catalogue.definitions[$0.campaign] == nil }) else { return }
    try await updateCatalogue(after: .zero, on: reactor)
  }

  /// Has the texts written that events of watched rows wait for.
  func writeRowTexts(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      while !isStopped, try await rowTexts.writeAll(on: reactor) > 0 { queued(reactor) }
    } catch {
      logger.warning("texts of rows cannot be written; trying again later", metadata: ["error": "\(error)"])
    }
  }

  // Hours.

  /// One look: it enrols the users whose hour has come, and then decides all enrolled ones. If that takes long, it
  /// enrols again in between.
  func look(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await enrolDue(on: reactor)
      var enrolledAt = Reactor.now
      while !isStopped, try await decideBatch(on: reactor) {
        await reactor.sleep(for: pace.batchPause)
        guard Reactor.now - enrolledAt > pace.hourInterval.clampedNanoseconds else { continue }
        try await enrolDue(on: reactor)
        enrolledAt = Reactor.now
      }
    } catch {
      logger.warning("campaigns cannot run; trying again later", metadata: ["error": "\(error)"])
    }
  }

  /// Decides a batch: claimed together, decided by a few workers.
  /// - Returns: whether there may be more.
  private func decideBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    let claimedAt = Reactor.now
    let occasions = try await store.claimOccasions(
      pace.batchUsers, haveSlots: false, waitingMax: Self.waitingMax, lease: pace.userLease, grace: pace.lateAfter,
      on: reactor)
    guard !occasions.isEmpty else { return false }
    try await know(campaignsOf: occasions, on: reactor)
    let batch = WorkBatch(occasions, until: claimedAt + (pace.userLease - pace.leaseReserve).clampedNanoseconds)
    self.batch = batch
    let left = await batch.run(workers: pace.concurrentUsers, on: reactor) { await self.decide($0, on: reactor) }
    self.batch = nil
    if !left.isEmpty { try await store.release(left, on: reactor) }
    return true
  }

  /// Far more events wait in the inbox only while nothing is sent.
  private static let waitingMax = 10_000

  /// A failure of one user's occasion does not affect others.
  private func decide(_ occasion: Occasion, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      let decided =
        if let refusal = refusal(of: occasion) {
          DecidedOccasion(occasion, nil, refusal: refusal)
        } else {
          try await writer.decide(occasion, by: catalogue.definitions[occasion.campaign], on: reactor)
        }
      try await commit([decided], of: occasion.campaign, on: reactor)
    } catch {
      logger.warning(
        "an occasion is not decided; its lease will run out",
        metadata: ["campaign": "\(occasion.campaign)", "error": "\(error)"])
    }
  }

  /// What is known against an occasion before anything is asked.
  private func refusal(of occasion: Occasion) -> String? {
    if occasion.isLate { return "too_late" }
    if occasion.attempts > pace.attemptsMax { return "attempts_exhausted" }
    guard catalogue.definitions[occasion.campaign] == nil else { return nil }
    return catalogue.active.contains(occasion.campaign) ? "campaign_unusable" : "campaign_inactive"
  }

  private func commit(
    _ decided: [DecidedOccasion], of campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let way = catalogue.definitions[campaign]?.way ?? .push
    let ends = try await store.commit(decided, of: campaign, way: way.rawValue, on: reactor)
    for (place, end) in ends { metrics.count(end, of: decided[place].occasion) }
    if ends.values.contains(where: { $0.status == "sent" }) { queued(reactor) }
  }

  // Slots.

  /// Pushes everything that is due, at most as fast as the pace allows.
  /// - Returns: how long there is nothing to do; nil for ever, as far as is known.
  func pushAll(on reactor: isolated Reactor) async -> Duration? {
    do throws(PostgresError) {
      guard try await hasSlots(on: reactor) else { return nil }
      while !isStopped {
        let begunAt = Reactor.now
        let pushesPerSecond = try await pushesPerSecond(on: reactor)
        let pushed = try await pushBatch(pace.pushesPerBatch(at: pushesPerSecond), on: reactor)
        if pushed == 0 { break }
        foundAt = begunAt
        let time = Duration.seconds(1) * pushed / pushesPerSecond - .nanoseconds(Int64(Reactor.now - begunAt))
        if time > .zero { await reactor.sleep(for: time) }
      }
      return mayHaveBacklog ? .zero : try await store.timeUntilNextSlot(on: reactor).pushing
    } catch {
      return failed(error)
    }
  }

  /// Whether there are campaigns with slots, or were: what is left of them is ended.
  func hasSlots(on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    try await updateCatalogue(after: pace.catalogueInterval, on: reactor)
    return !(catalogue.ofSlots.isEmpty && followedAt.isEmpty)
  }

  @discardableResult
  func failed(_ error: PostgresError) -> Duration {
    logger.warning("slots cannot be served; trying again later", metadata: ["error": "\(error)"])
    return pace.retryWait
  }

  /// How fast occasions are pushed: the more of them are due, the faster. It does not fall before all are pushed.
  private func pushesPerSecond(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    if !mayHaveBacklog { rate = nil }
    if let rate, rate.pushesPerSecond == pace.pushesPerSecond || Reactor.now &- rate.decidedAt < 1_000_000_000 {
      return rate.pushesPerSecond
    }
    let due = try await store.dueOccasions(upTo: pace.dueMax, on: reactor)
    let pushesPerSecond = max(rate?.pushesPerSecond ?? 0, pace.pushesPerSecond(whenDue: due))
    rate = (pushesPerSecond, Reactor.now)
    return pushesPerSecond
  }

  /// Whether more is probably due, for which the inbox had no room. Looking again costs less than asking when the next occasion is:
  /// that is behind the index entries of all that were just pushed.
  private var mayHaveBacklog: Bool {
    foundAt.map { Reactor.now &- $0 < pace.backlogInterval.clampedNanoseconds } ?? false
  }

  /// - Returns: how many occasions were due.
  private func pushBatch(_ count: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let due = try await store.claimOccasions(
      count, haveSlots: true, waitingMax: pace.pushesPerBatch(at: pace.pushesPerSecond), lease: pace.lease,
      grace: pace.grace, on: reactor)
    try await know(campaignsOf: due, on: reactor)
    for (campaign, occasions) in Dictionary(grouping: due, by: \.campaign) {
      var decided: [DecidedOccasion] = []
      var open: [Occasion] = []
      for occasion in occasions {
        if let refusal = refusal(of: occasion) {
          decided.append(DecidedOccasion(occasion, nil, refusal: refusal))
        } else {
          open.append(occasion)
        }
      }
      if let definition = catalogue.definitions[campaign], !open.isEmpty {
        decided += try await renderer.render(
          open, of: campaign, by: definition, isAhead: false, lead: catalogue.lead, on: reactor
        ).decided
      }
      try await commit(decided, of: campaign, on: reactor)
    }
    return due.count
  }
}
