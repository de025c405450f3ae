internal import Logging
internal import Postgres
internal import PushStore
internal import Reactors

// What is made of looks that fail.
extension DeliveryPipeline {
  /// Why claims are not known to bring what waits, in words that anybody may see; nil while they work.
  public func claimFault(now: UInt64) -> String? { health.fault(now: now) }

  /// How long claims have not worked; up to about a second while they do.
  public func claimAge(now: UInt64) -> Duration { health.age(now: now) }

  /// Some look has been answered.
  func noteAnswer(on reactor: isolated Reactor) {
    let now = Reactor.now
    health.answered(now: now)
    if isAway { logger.notice("the database answers again") }
    isAway = false
    guard messageLooks.since == nil, allLooks.since == nil else { return }
    health.recovered()
    if failuresTold.hasLeft { logger.notice("work can be claimed again") }
    failuresTold = LookFailureLine()
  }

  /// The database has refused a look.
  func noteRefusal(_ error: PostgresError, on reactor: isolated Reactor) {
    let now = Reactor.now
    health.failed(error, now: now)
    thoroughLooks.ask()
    slowDown(on: reactor)
    guard let times = failuresTold.note(now: now) else { return }
    logger.error(
      "cannot look at everything at once",
      metadata: ["times": "\(times)"].merging(error.logged) { $1 })
  }

  /// The way to the database failed.
  func noteFailure(_ error: PostgresError, on reactor: isolated Reactor) {
    if !isAway {
      logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error.debugDescription)"])
    }
    isAway = true
    isClockSuspect = true
    needsAlarm = true
    health.failed(error, now: Reactor.now)
    thoroughLooks.ask()
    slowDown(on: reactor)
  }

  /// Says that the database answers while there is no room for a claim.
  func proveAnswer(on reactor: isolated Reactor) async {
    guard !recorder.isRetrying, health.age(now: Reactor.now) > .seconds(1) else { return }
    do throws(PostgresError) {
      _ = try await store.timeUntilNextDue(on: reactor)
      noteAnswer(on: reactor)
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  private func slowDown(on reactor: isolated Reactor) {
    let wasBusy = schedule.isBusy
    schedule.failed()
    if wasBusy { observer?.pipelineBusyChanged(false, on: reactor) }
  }
}

/// One line about failing looks at first, and one a minute while they go on.
struct LookFailureLine {
  private var line = MinuteLine()
  private(set) var hasLeft = false

  mutating func note(now: UInt64) -> Int? {
    hasLeft = true
    return line.note(now: now)
  }
}
