internal import Logging
internal import Postgres
package import PushRules
package import PushStore
package import Reactors

/// What made the service look for work; the ledger keeps it for each push.
package enum WakeCause: String, Sendable {
  case notify
  /// A webhook named a message.
  case webhook
  /// The poll found it: a wake-up was lost, or the host does not notify while the service is busy.
  case poll
  case start
  /// A hold or a retry became due.
  case due
}

// Trigger: what makes the pipeline look.
extension DeliveryPipeline {
  package func run(on reactor: isolated Reactor) async {
    while !isDraining {
      await look(on: reactor)
      guard !isDraining else { break }
      if await !pause(on: reactor) { wakeMark.remember(.poll) }
    }
    isStopped = true
    slowEvents.cancel(on: reactor)
    idle.signal(on: reactor)
  }

  /// Makes the pipeline look for work now. Cheap, and safe to call too often.
  package func wake(_ cause: WakeCause, on reactor: isolated Reactor) {
    configuration.sleep?.stayAwake()
    if cause == .due { pacer.ask() }
    wakeMark.remember(cause)
    signal.signal(on: reactor)
  }

  /// Makes the pipeline look for work after a time, unless it looks earlier.
  func expectWork(after wait: Duration, on reactor: isolated Reactor) { alarm.arm(after: wait, on: reactor) }
}

/// The process's pipeline, for those who ask something of it on any reactor.
package struct PipelineHandle: Sendable {
  private let pipeline: ReactorBound<DeliveryPipeline>
  /// Whether messages come, which go before what can wait.
  package let messages: MessageFlow

  package init(_ pipeline: DeliveryPipeline, on reactor: isolated Reactor) {
    self.pipeline = ReactorBound(pipeline, on: reactor)
    messages = pipeline.pacer.flow
  }

  /// Makes the pipeline look for work now. Cheap, and safe to call too often.
  package func wake(_ cause: WakeCause, on reactor: isolated Reactor) {
    guard reactor !== pipeline.reactor else { return pipeline.value(on: reactor).wake(cause, on: reactor) }
    pipeline.submit { $0.wake(cause, on: $1) }
  }

  /// Makes the pipeline look for work after a time, unless it looks earlier.
  package func expectWork(after wait: Duration) {
    pipeline.submit { $0.expectWork(after: wait, on: $1) }
  }

  /// Waits until a subject is recorded, or the time is over. Another process may record it.
  package func waitForRecord(of subject: PushSubject, _ limit: Duration) async {
    await pipeline.perform { await $0.waitForRecord(of: subject, limit, on: $1) }
  }
}

/// What made the pipeline look next, and when, in monotonic nanoseconds.
struct WakeMark {
  private(set) var cause = WakeCause.start
  private(set) var at = Reactor.now
  private var isTaken = false

  /// The first cause since the last look names it, except that any other is before the poll.
  mutating func remember(_ newCause: WakeCause) {
    guard cause == .poll else { return }
    self = WakeMark(cause: newCause)
  }

  /// For the look that begins now.
  mutating func take() -> WakeMark {
    defer { (cause, isTaken) = (.poll, true) }
    return isTaken ? WakeMark(cause: cause) : self
  }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has work, or may have.
  package func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }

  package func workIsDue(after wait: Duration, on reactor: isolated Reactor) {
    expectWork(after: wait, on: reactor)
  }

  /// The database has put releases of holds into its queue. The rescuer makes those that one look cannot take.
  package func releasesQueued(on reactor: isolated Reactor) {
    hasQueuedReleases = true
    wake(.due, on: reactor)
  }

  package func shardsGivenUp(on reactor: isolated Reactor) { observer?.pipelineOwnershipChanged(on: reactor) }

  /// The database notifies of new work, or has stopped doing so.
  package func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    pacer.schedule.isHearing = isHearing
    isClockSuspect = isClockSuspect || isHearing
  }

  package func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    pacer.schedule.notifyCostMeasured(cost, now: Reactor.now)
  }
}

// Trigger: the wait for the next look, and the sleep that it may become.
extension DeliveryPipeline {
  package var sleep: DatabaseSleep? { configuration.sleep }

  package var isAsleep: Bool { signal.isAsleep }

  /// Waits until it is time for the next look.
  /// - Returns: whether something woke the pipeline before.
  func pause(on reactor: isolated Reactor) async -> Bool {
    await fallAsleepIfDue(on: reactor)
    let isWoken = await signal.wait(for: pacer.schedule.wait, longest: configuration.sleep?.longest, on: reactor)
    if signal.hasSlept { resume() }
    return isWoken
  }

  /// Work that was missed is found by the next look, and so is what another server than before holds.
  private func resume() {
    health.resumed(now: Reactor.now)
    pacer.ask()
    isClockSuspect = true
    alarm.isUnset = true
  }

  /// Lets the process sleep when nothing waits that a poll would find, not even behind a shut route, and what is due later
  /// has its alarm.
  private func fallAsleepIfDue(on reactor: isolated Reactor) async {
    guard let sleep = configuration.sleep, mayFallAsleep, sleep.isDue(now: Reactor.now) else { return }
    var limits = ClaimLimits(eventsMax: 1, deliveriesMax: 1, lanes: sender.lanes.all, lease: configuration.lease)
    limits.lookBack = .zero
    do throws(PostgresError) {
      guard try await !store.waitingWork(limits, on: reactor).hasOthers else { return }
      try await alarm.set(by: store, on: reactor)
      guard mayFallAsleep, sleep.begin(now: Reactor.now) else { return }
      logger.debug("the database may sleep")
      observer?.pipelineOwnershipChanged(on: reactor)
    } catch {
      lookFailed(error, on: reactor)
    }
  }

  private var mayFallAsleep: Bool {
    !isDraining && !health.isAway && !pacer.isFailing && room.places == 0 && !recorder.isRetrying
  }
}

/// Wakes the pipeline at the next moment at which work becomes due: one timer for any number of holds.
///
/// It only moves closer; when it goes off, the pipeline asks the database for the next moment. The poll finds moments that this
/// process does not know, such as those of another process's holds that are now its own, at most its longest step late.
final class DueAlarm {
  /// The least wait, so that due work that another replica has locked is not looked for in a loop.
  private static let shortest = Duration.milliseconds(20)

  /// Weak, because the reactor keeps this alive as long as the timer is set.
  private weak var pipeline: DeliveryPipeline?
  private var timer: TimerToken?
  private var deadline = UInt64.max
  private var isClosed = false

  /// Whether the database has not been asked for the next moment since the last one, or may have another.
  var isUnset = true

  init(for pipeline: DeliveryPipeline) {
    self.pipeline = pipeline
  }

  /// Makes sure that the alarm goes off no later than this.
  func arm(after wait: Duration, on reactor: isolated Reactor) {
    let wait = max(wait, Self.shortest)
    let wanted = Reactor.now &+ wait.clampedNanoseconds
    guard wanted < deadline, !isClosed else { return }
    if let timer { reactor.cancel(timer) }
    deadline = wanted
    timer = reactor.schedule(after: wait, self)
  }

  /// Asks the database for the next moment.
  func set(by store: PushDatabase, on reactor: isolated Reactor) async throws(PostgresError) {
    isUnset = false
    if let wait = try await store.timeUntilNextDue(on: reactor) { arm(after: wait, on: reactor) }
  }

  /// Does not go off any more.
  func close(on reactor: isolated Reactor) {
    isClosed = true
    reactor.cancel(&timer)
  }
}

extension DueAlarm: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    deadline = .max
    isUnset = true
    pipeline?.wake(.due, on: reactor)
  }
}

/// Whether claims bring what waits: when the database last answered one, and since when it refuses them.
///
/// A value: time comes in as monotonic nanoseconds.
struct ClaimHealth {
  /// How old the last answer may be. An idle pipeline asks once a second.
  static let ageMax = Duration.seconds(3)

  private let startedAt: UInt64
  private var answeredAt: UInt64?
  private var failure: (code: String, since: UInt64)?
  /// One log line about refused looks at first, and one a minute while they go on; nil before the first refusal.
  private var refusalLine: MinuteLine?
  /// Whether the way to the database failed at the last look.
  private(set) var isAway = false
  /// When a look brought work.
  private(set) var foundAt: UInt64?

  init(now: UInt64) { startedAt = now }

  mutating func answered(now: UInt64) { answeredAt = now }

  /// Looks begin again after a sleep, in which no answer was missing. The database may take a while to wake up too.
  mutating func resumed(now: UInt64) {
    if failure == nil { answeredAt = now + DatabaseSleep.wakingLimit.clampedNanoseconds }
  }

  mutating func failed(_ error: PostgresError, now: UInt64) {
    failure = (error.description, failure?.since ?? now)
  }

  mutating func recovered() { failure = nil }

  mutating func foundWork(now: UInt64) { foundAt = now }

  /// The database has answered a look.
  /// - Parameter isFailing: whether looks of another kind are still refused.
  mutating func answered(isFailing: Bool, _ logger: Logger) {
    answered(now: Reactor.now)
    if isAway { logger.notice("the database answers again") }
    isAway = false
    guard !isFailing else { return }
    recovered()
    if refusalLine != nil { logger.notice("work can be claimed again") }
    refusalLine = nil
  }

  /// The database has refused a look.
  mutating func refused(_ error: PostgresError, _ logger: Logger) {
    let now = Reactor.now
    failed(error, now: now)
    var line = refusalLine ?? MinuteLine()
    defer { refusalLine = line }
    guard let times = line.note(now: now) else { return }
    logger.error(
      "cannot look at everything at once",
      metadata: ["times": "\(times)"].merging(error.logged) { $1 })
  }

  /// The way to the database failed.
  mutating func lost(_ error: PostgresError, _ logger: Logger) {
    if !isAway {
      logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error.debugDescription)"])
    }
    isAway = true
    failed(error, now: Reactor.now)
  }

  /// How long claims have not worked, 0 to about a second while they do.
  func age(now: UInt64) -> Duration {
    let since = min(answeredAt ?? startedAt, failure?.since ?? .max)
    return .nanoseconds(Int64(clamping: now - min(now, since)))
  }

  /// Why claims are not known to work, in words for the public; nil when they do.
  func fault(now: UInt64) -> String? {
    if answeredAt == nil, failure == nil { return "nothing has been claimed yet" }
    let age = age(now: now)
    guard age > Self.ageMax else { return nil }
    let reason = failure?.code ?? "the database does not answer"
    return "no claim has worked for \(age.components.seconds) s: \(reason)"
  }
}

// Trigger: what follows from the answer to a look, and from its failure.
extension DeliveryPipeline {
  /// Why claims are not known to bring what waits, in words for the public; nil while they work, and
  /// while the pipeline sleeps.
  package func claimFault(now: UInt64) -> String? { isAsleep ? nil : health.fault(now: now) }

  /// How long claims have not worked; up to about a second while they do.
  package func claimAge(now: UInt64) -> Duration { isAsleep ? .zero : health.age(now: now) }

  func lookAnswered() { health.answered(isFailing: pacer.isFailing, logger) }

  func lookRefused(_ error: PostgresError, on reactor: isolated Reactor) {
    health.refused(error, logger)
    slowDown(on: reactor)
  }

  func lookFailed(_ error: PostgresError, on reactor: isolated Reactor) {
    health.lost(error, logger)
    isClockSuspect = true
    alarm.isUnset = true
    slowDown(on: reactor)
  }

  /// Checks that the database answers while there is no room for a claim.
  func proveAnswer(on reactor: isolated Reactor) async {
    guard !recorder.isRetrying, health.age(now: Reactor.now) > .seconds(1) else { return }
    do throws(PostgresError) {
      _ = try await store.timeUntilNextDue(on: reactor)
      lookAnswered()
    } catch {
      lookFailed(error, on: reactor)
    }
  }

  private func slowDown(on reactor: isolated Reactor) {
    let wasBusy = pacer.schedule.isBusy
    pacer.slowDown()
    if wasBusy { observer?.pipelineBusyChanged(false, on: reactor) }
  }
}

extension DeliveryPipeline: PostgresPoolObserver {
  /// The server may have forgotten the latest records. They, and what waits to be recorded, go before all claims.
  package func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor) {
    recorder.repeatRecent(lostAt: lostAt, on: reactor)
  }
}
