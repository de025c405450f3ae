package import Logging
internal import Postgres
package import PushStore
package import Reactors

/// When and how fast campaigns run.
package struct CampaignPace: Equatable, Sendable {
  /// The default time of a campaign, in minutes after midnight in the user's zone. 600: at ten the day has begun and
  /// leaves time to answer.
  package var standardMinutes = 600
  package var batchUsers = 50
  /// Users of a batch that are evaluated concurrently. Nearly all of that time is a wait for a model.
  package var concurrentUsers = 5
  package var batchPause = Duration.milliseconds(100)
  /// How long a claim holds. Then another process takes over the users of a killed one.
  package var lease = Duration.seconds(60)
  /// The rest of a lease in which no further user begins: two calls of a model at their deadlines, and the wait between
  /// them.
  package var leaseReserve = Duration.seconds(20)
  /// How long after a user's hour a push may still be sent. An outage may end at night.
  package var lateAfter = Duration.seconds(4 * 3600)
  /// Claims after which a user is given up for the day. A cause that kills a process five times kills the sixth too.
  package var attemptsMax = 5
  /// The pause between two looks. Users' hours are exact to the minute, not to the second.
  package var lookInterval = Duration.seconds(20)
  /// The pause between two looks for rows that wait for a text, of ten seconds that they wait.
  package var rowInterval = Duration.seconds(2)
  /// The greatest age of the list of an audience's zones. Reading it means reading the audience.
  package var zonesAge = Duration.seconds(900)

  package init() {}
}

/// Runs the campaigns: it enrols users whose hour has come, and decides the turns of all enrolled users.
///
/// Each process has one, beside the pipeline that sends the queued pushes. Any number may share a database: each hour
/// is served once, users are leased, and a commit holds a lock on the user. When a process dies, others take over its
/// users as soon as their leases expire.
package final class CampaignRunner {
  let store: PushDatabase
  private let decider: TurnDecider
  private let rowTexts: RowTextWriter
  let pace: CampaignPace
  private let metrics: CampaignMetrics
  let logger: Logger
  let sleep: DatabaseSleep?
  private let queued: (isolated Reactor) -> Void
  let pause: WakefulPause
  private let rowPause: WakefulPause
  private let ended = Signal()
  private let rowsEnded = Signal()
  private var isStopped = false
  private var isRunning = false
  private var batch: TurnBatch<CampaignTurn>?
  private(set) var catalogue = CampaignCatalogue()
  private(set) var zones: [String: (names: [String], readAt: UInt64)] = [:]
  private(set) var retries = CampaignRetries()

  /// Makes a runner; ``run(on:)`` starts it.
  /// - Parameters:
  ///   - writer: writes check-ins; nil without a language model.
  ///   - limits: the writer's daily budget.
  ///   - sleep: between its looks the next hour is known, and nothing is asked before.
  ///   - queued: called after a push was queued, to wake the pipeline.
  package init(
    store: PushDatabase, writer: (any CheckInWriter)?, limits: ModelUsageLimits, pace: CampaignPace = CampaignPace(),
    metrics: CampaignMetrics = CampaignMetrics(), sleep: DatabaseSleep? = nil, logger: Logger,
    queued: @escaping (isolated Reactor) -> Void
  ) {
    self.store = store
    self.pace = pace
    self.metrics = metrics
    self.logger = logger
    self.queued = queued
    self.sleep = sleep
    pause = WakefulPause(sleep)
    rowPause = WakefulPause(sleep)
    let texts = ModelTexts(store: store, writer: writer, limits: limits, logger: logger)
    decider = TurnDecider(store: store, composer: CheckInComposer(texts: texts), logger: logger)
    rowTexts = RowTextWriter(store: store, texts: texts)
  }

  /// Works until ``stop(on:)``.
  package func run(on reactor: isolated Reactor) async {
    isRunning = true
    reactor.start {
      while !self.isStopped {
        await self.writeRowTexts(on: reactor)
        if !self.isStopped { _ = await self.rowPause.wait(for: self.pace.rowInterval, longest: nil, on: reactor) }
      }
      self.rowsEnded.signal(on: reactor)
    }
    while !isStopped {
      await look(on: reactor)
      if !isStopped { await pause(for: pace.lookInterval * .random(in: 0.8...1.2), on: reactor) }
    }
    _ = await rowsEnded.wait(on: reactor)
    isRunning = false
    ended.signal(on: reactor)
  }

  /// Looks at once, because a user was enrolled.
  package func wake(on reactor: isolated Reactor) { pause.signal(on: reactor) }

  /// Begins no further turn. Turns in progress are decided.
  package func stop(on reactor: isolated Reactor) {
    isStopped = true
    batch?.stop()
    pause.signal(on: reactor)
    rowPause.signal(on: reactor)
  }

  /// Waits until the turns in progress are decided, which takes as long as a model may.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    if !isRunning { return true }
    return await ended.wait(for: limit, on: reactor)
  }

  /// One look: it enrols the users whose hour has come, and then decides all enrolled ones. If that takes long, it
  /// enrols again in between.
  func look(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await enrolDue(on: reactor)
      var enrolledAt = Reactor.now
      while !isStopped, try await decideBatch(on: reactor) {
        await reactor.sleep(for: pace.batchPause)
        guard Reactor.now - enrolledAt > pace.lookInterval.clampedNanoseconds else { continue }
        try await enrolDue(on: reactor)
        enrolledAt = Reactor.now
      }
    } catch {
      logger.warning("campaigns cannot run; trying again later", metadata: ["error": "\(error)"])
    }
  }

  /// Has the texts written that events of watched rows wait for.
  func writeRowTexts(on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      while !isStopped, try await rowTexts.writeAll(on: reactor) > 0 { queued(reactor) }
    } catch {
      logger.warning("texts of rows cannot be written; trying again later", metadata: ["error": "\(error)"])
    }
  }

  private func enrolDue(on reactor: isolated Reactor) async throws(PostgresError) {
    catalogue.update(try await store.campaigns(on: reactor), logger: logger)
    retries.beginLook()
    for name in catalogue.scheduled { try await enrolDue(name, on: reactor) }
  }

  private func enrolDue(_ name: String, on reactor: isolated Reactor) async throws(PostgresError) {
    guard let names = try await zoneNames(of: name, on: reactor) else { return }
    let slots: [CampaignSlot]
    do throws(PostgresError) {
      slots = try await store.dueSlots(of: name, minutes: pace.standardMinutes, zones: names, on: reactor)
    } catch {
      return try recordUnreadableAudience(name, error)
    }
    for slot in slots where !isStopped { try await enrol(slot, on: reactor) }
  }

  /// A failed hour does not block others, and it is due again at a later look.
  private func enrol(_ slot: CampaignSlot, on reactor: isolated Reactor) async throws(PostgresError) {
    let part = CampaignRetries.Part.slot(slot.campaign, slot.timeZone)
    guard !retries.leavesOut(part) else { return }
    do throws(PostgresError) {
      let count = try await store.enrol(slot, on: reactor)
      retries.succeeded(part)
      guard count > 0 else { return }
      logger.info(
        "a campaign's hour has come",
        metadata: ["campaign": "\(slot.campaign)", "zone": "\(slot.timeZone)", "users": "\(count)"])
    } catch {
      metrics.countFailedSlot(of: slot.campaign)
      guard error.concernsStatement else { throw error }
      retries.failed(part)
      logger.warning(
        "a campaign's hour cannot be served",
        metadata: ["campaign": "\(slot.campaign)", "zone": "\(slot.timeZone)"].merging(error.logged) { $1 })
    }
  }

  /// The zones of a campaign's audience; nil while unknown. An unreadable audience does not block other campaigns, and
  /// its known zones are still served.
  private func zoneNames(of name: String, on reactor: isolated Reactor) async throws(PostgresError) -> [String]? {
    let known = zones[name]
    if let known, Reactor.now - known.readAt < pace.zonesAge.clampedNanoseconds { return known.names }
    guard !retries.leavesOut(.audience(name)) else { return known?.names }
    do throws(PostgresError) {
      let names = try await store.zones(ofCampaign: name, on: reactor)
      retries.succeeded(.audience(name))
      zones[name] = (names, Reactor.now)
      return names
    } catch {
      try recordUnreadableAudience(name, error)
      return known?.names
    }
  }

  private func recordUnreadableAudience(_ name: String, _ error: PostgresError) throws(PostgresError) {
    metrics.countFailedSlot(of: name)
    guard error.concernsStatement else { throw error }
    retries.failed(.audience(name))
    logger.warning(
      "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
  }

  /// Decides a batch: claimed together, decided by a few workers.
  /// - Returns: whether there may be more.
  private func decideBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    let claimedAt = Reactor.now
    let turns = try await store.claimTurns(
      pace.batchUsers, lease: pace.lease, lateAfter: pace.lateAfter, on: reactor)
    guard !turns.isEmpty else { return false }
    let batch = TurnBatch(turns, until: claimedAt + (pace.lease - pace.leaseReserve).clampedNanoseconds)
    self.batch = batch
    let left = await batch.run(workers: pace.concurrentUsers, on: reactor) { await self.decide($0, on: reactor) }
    self.batch = nil
    if !left.isEmpty { try await store.release(left, on: reactor) }
    return true
  }

  /// A failure of one user's turn does not affect others.
  private func decide(_ turn: CampaignTurn, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      let decision = try await decision(of: turn, on: reactor)
      metrics.countDecision(decision, of: turn.campaign)
      if case .committed = decision { queued(reactor) }
    } catch {
      logger.warning(
        "a user's turn is not decided; its lease will run out",
        metadata: ["campaign": "\(turn.campaign)", "error": "\(error)"])
    }
  }

  private func decision(
    of turn: CampaignTurn, on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    guard turn.attempts <= pace.attemptsMax else {
      return try await decider.end(turn, .failed, "attempts_exhausted", on: reactor)
    }
    guard let definition = catalogue.definitions[turn.campaign] else {
      guard catalogue.active.contains(turn.campaign) else {
        return try await decider.end(turn, .skipped, "campaign_inactive", on: reactor)
      }
      return try await decider.end(turn, .failed, "campaign_unusable", on: reactor)
    }
    return try await decider.decide(turn, by: definition, on: reactor)
  }

  /// How long a sleep may last while something failed that is retried.
  private static let retryWait = Duration.seconds(600)

  /// The pause between two looks. While the database sleeps, it lasts until campaigns have something to do.
  func pause(for time: Duration, on reactor: isolated Reactor) async {
    let next = await timeUntilNextLook(on: reactor)
    _ = await pause.wait(for: time, longest: next.map { max(.zero, $0 - time) }, on: reactor)
  }

  /// How long until an hour comes or something is retried; nil when neither is to come, or the database never sleeps.
  private func timeUntilNextLook(on reactor: isolated Reactor) async -> Duration? {
    guard sleep != nil else { return nil }
    let scheduled = zones.filter { catalogue.scheduled.contains($0.key) }.mapValues(\.names)
    do throws(PostgresError) {
      let hour = try await store.timeUntilNextHour(minutes: pace.standardMinutes, zones: scheduled, on: reactor)
      return retries.isEmpty ? hour : min(hour ?? Self.retryWait, Self.retryWait)
    } catch {
      logger.debug("the next hour of a campaign is unknown", metadata: ["error": "\(error)"])
      return Self.retryWait
    }
  }
}

extension PostgresError {
  /// Whether another statement may succeed: the server answered, or this statement ran out of time.
  fileprivate var concernsStatement: Bool { code == .server || code == .timedOut || blamesStatement }
}
