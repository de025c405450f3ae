internal import Logging
internal import Postgres
internal import PushStore
package import Reactors

/// Whether claims bring what waits: when the database last answered one, and since when it refuses them.
///
/// A value: time comes in as monotonic nanoseconds.
struct ClaimHealth {
  /// How old the last answer may be. An idle pipeline asks once a second.
  static let ageMax = Duration.seconds(3)

  private let startedAt: UInt64
  private var answeredAt: UInt64?
  private var failure: (code: String, since: UInt64)?

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

  func lookAnswered(on reactor: isolated Reactor) {
    health.answered(now: Reactor.now)
    if isAway { logger.notice("the database answers again") }
    isAway = false
    guard !pacer.isFailing else { return }
    health.recovered()
    if refusalLine != nil { logger.notice("work can be claimed again") }
    refusalLine = nil
  }

  func lookRefused(_ error: PostgresError, on reactor: isolated Reactor) {
    let now = Reactor.now
    health.failed(error, now: now)
    slowDown(on: reactor)
    var line = refusalLine ?? MinuteLine()
    defer { refusalLine = line }
    guard let times = line.note(now: now) else { return }
    logger.error(
      "cannot look at everything at once",
      metadata: ["times": "\(times)"].merging(error.logged) { $1 })
  }

  /// The way to the database failed.
  func lookFailed(_ error: PostgresError, on reactor: isolated Reactor) {
    if !isAway {
      logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error.debugDescription)"])
    }
    isAway = true
    isClockSuspect = true
    needsAlarm = true
    health.failed(error, now: Reactor.now)
    slowDown(on: reactor)
  }

  /// Checks that the database answers while there is no room for a claim.
  func proveAnswer(on reactor: isolated Reactor) async {
    guard !recorder.isRetrying, health.age(now: Reactor.now) > .seconds(1) else { return }
    do throws(PostgresError) {
      _ = try await store.timeUntilNextDue(on: reactor)
      lookAnswered(on: reactor)
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
