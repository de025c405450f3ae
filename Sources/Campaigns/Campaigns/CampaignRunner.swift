internal import CampaignRules
public import Logging
internal import Postgres
public import PushStore
public import Reactors

/// How fast campaigns run, and when.
public struct CampaignPace: Equatable, Sendable {
  /// When users are looked at where the campaign names no time: minutes after midnight in the user's zone. 600: at ten, when
  /// the day has begun and leaves time to answer.
  public var standardMinutes = 600
  /// Users claimed at once.
  public var batchUsers = 50
  /// Users of a batch that are looked at at the same time; nearly all of it is waiting for a model.
  public var concurrentUsers = 5
  /// Between two batches.
  public var batchPause = Duration.milliseconds(100)
  /// How long a claim holds. A killed process's users are looked at by another one after that.
  public var lease = Duration.seconds(60)
  /// What is left of a lease when no further user of it is begun: two calls of a model at their deadlines, and the wait
  /// that the model may ask for between them.
  public var leaseReserve = Duration.seconds(20)
  /// How long after a user's hour they may still be pushed: an outage ends at some time of the night as well.
  public var lateAfter = Duration.seconds(4 * 3600)
  /// Claims after which a user is given up for the day: whatever kills a process five times kills the sixth.
  public var attemptsMax = 5
  /// Between two looks at the clock. Hours of users are minutes, not seconds.
  public var lookInterval = Duration.seconds(20)
  /// How old the list of zones may be in which users live. Reading it means reading the audience.
  public var zonesAge = Duration.seconds(900)

  /// The standard pace.
  public init() {}
}

/// Runs the campaigns: notes users whose hour has come, and looks at those who are noted, whoever noted them.
///
/// One in each process, beside the pipeline that sends what it queues. Any number may run on one database: hours are
/// served once, users are leased, and what is committed is decided under a lock of the user's. When it dies, others take
/// its users over when their leases run out.
public final class CampaignRunner {
  private let store: PushDatabase
  private let decider: TurnDecider
  private let pace: CampaignPace
  private let metrics: CampaignMetrics
  private let logger: Logger
  private let queued: (isolated Reactor) -> Void
  private let pause = Signal()
  private let ended = Signal()
  private var isStopped = false
  private var isRunning = false
  private var batch: TurnBatch?
  private var catalogue = CampaignCatalogue()
  private var zones: [String: (names: [String], readAt: UInt64)] = [:]
  private var retries = CampaignRetries()

  /// Makes a runner; ``run(on:)`` makes it work.
  /// - Parameters:
  ///   - writer: who writes; nil where no language model is set up.
  ///   - limits: what the writer may use on a day.
  ///   - queued: called when pushes were queued, so that the pipeline looks.
  public init(
    store: PushDatabase, writer: (any CheckInWriter)?, limits: ModelUsageLimits, pace: CampaignPace = CampaignPace(),
    metrics: CampaignMetrics = CampaignMetrics(), logger: Logger, queued: @escaping (isolated Reactor) -> Void
  ) {
    self.store = store
    self.pace = pace
    self.metrics = metrics
    self.logger = logger
    self.queued = queued
    decider = TurnDecider(
      store: store, composer: CheckInComposer(store: store, writer: writer, limits: limits, logger: logger),
      logger: logger)
  }

  /// Works until ``stop(on:)``.
  public func run(on reactor: isolated Reactor) async {
    isRunning = true
    while !isStopped {
      await look(on: reactor)
      if !isStopped { _ = await pause.wait(for: pace.lookInterval * .random(in: 0.8...1.2), on: reactor) }
    }
    isRunning = false
    ended.signal(on: reactor)
  }

  /// Looks at once, because somebody was noted.
  public func wake(on reactor: isolated Reactor) { pause.signal(on: reactor) }

  /// Begins nobody more. Those under way are decided.
  public func stop(on reactor: isolated Reactor) {
    isStopped = true
    batch?.stop()
    pause.signal(on: reactor)
  }

  /// Waits until those under way are decided; they take as long as a model may.
  /// - Returns: false when the limit passed first.
  public func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    if !isRunning { return true }
    return await ended.wait(for: limit, on: reactor)
  }

  /// One look: everybody whose hour has come, and then everybody who is noted. While that takes long, hours go on to be
  /// served.
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
      return try noteUnread(name, error)
    }
    for slot in slots where !isStopped { try await enrol(slot, on: reactor) }
  }

  /// An hour that cannot be served keeps no other from being served, and is due again at a later look.
  private func enrol(_ slot: CampaignSlot, on reactor: isolated Reactor) async throws(PostgresError) {
    let part = CampaignRetries.Part.slot(of: slot)
    guard !retries.leavesOut(part) else { return }
    do throws(PostgresError) {
      let count = try await store.enrol(slot, on: reactor)
      retries.succeeded(part)
      guard count > 0 else { return }
      logger.info(
        "a campaign's hour has come",
        metadata: ["campaign": "\(slot.campaign)", "zone": "\(slot.timeZone)", "users": "\(count)"])
    } catch {
      metrics.noteFailedSlot(of: slot.campaign)
      guard error.concernsStatement else { throw error }
      retries.failed(part)
      logger.warning(
        "a campaign's hour cannot be served",
        metadata: ["campaign": "\(slot.campaign)", "zone": "\(slot.timeZone)"].merging(error.logged) { $1 })
    }
  }

  /// The zones in which a campaign's audience lives; nil while nobody knows. An audience that cannot be read keeps no other
  /// campaign from running, and those zones from being served in which it can be read, as far as they are known.
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
      try noteUnread(name, error)
      return known?.names
    }
  }

  private func noteUnread(_ name: String, _ error: PostgresError) throws(PostgresError) {
    metrics.noteFailedSlot(of: name)
    guard error.concernsStatement else { throw error }
    retries.failed(.audience(name))
    logger.warning(
      "a campaign's audience cannot be read", metadata: ["campaign": "\(name)"].merging(error.logged) { $1 })
  }
}

// A batch: claimed together, looked at by a few at a time.
extension CampaignRunner {
  /// - Returns: whether there may be more.
  private func decideBatch(on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    let claimedAt = Reactor.now
    let turns = try await store.claimTurns(
      pace.batchUsers, lease: pace.lease, lateAfter: pace.lateAfter, on: reactor)
    guard !turns.isEmpty else { return false }
    let batch = TurnBatch(
      turns, lookers: pace.concurrentUsers, until: claimedAt + (pace.lease - pace.leaseReserve).clampedNanoseconds)
    self.batch = batch
    for _ in 0..<pace.concurrentUsers { reactor.start { await self.workThrough(batch, on: reactor) } }
    let left = await batch.finished(on: reactor)
    self.batch = nil
    if !left.isEmpty { try await store.release(left, on: reactor) }
    return true
  }

  private func workThrough(_ batch: TurnBatch, on reactor: isolated Reactor) async {
    while let turn = batch.next() { await decide(turn, on: reactor) }
    batch.lookerEnded(on: reactor)
  }

  /// Whatever goes wrong with one user stays with that user.
  private func decide(_ turn: CampaignTurn, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      let decision = try await decision(of: turn, on: reactor)
      metrics.note(decision, of: turn.campaign)
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
      return try await giveUp(turn, .failed, "attempts_exhausted", on: reactor)
    }
    guard let definition = catalogue.definitions[turn.campaign] else {
      guard catalogue.active.contains(turn.campaign) else {
        return try await giveUp(turn, .skipped, "campaign_inactive", on: reactor)
      }
      return try await giveUp(turn, .failed, "campaign_unusable", on: reactor)
    }
    return try await decider.decide(turn, by: definition, on: reactor)
  }

  private func giveUp(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, _ reason: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> TurnDecision {
    let isOurs = try await store.decide(turn, refusal, reason: reason, CampaignFindings(), on: reactor)
    guard isOurs else { return .lost }
    return refusal == .skipped ? .skipped(reason) : .failed(reason)
  }
}

extension PostgresError {
  /// Whether the next statement may fare better: the server answered, or had no time left for this one.
  fileprivate var concernsStatement: Bool { code == .server || code == .timedOut || blamesStatement }
}
