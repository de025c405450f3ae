internal import Logging
internal import Postgres
package import PushStore
internal import Reactors

// Trigger: the wait for the next look, and the sleep that it may become.
//
// The pipeline that leads sets the alarm for what is due next and lets the process fall asleep. The others stay asleep until
// something wakes them: they only help.
extension DeliveryPipeline {
  package var sleep: DatabaseSleep? { configuration.sleep }

  package var isAsleep: Bool { signal.isAsleep }

  /// Waits until it is time for the next look.
  /// - Returns: whether something woke the pipeline before.
  func pause(on reactor: isolated Reactor) async -> Bool {
    await fallAsleepIfDue(on: reactor)
    let longest = configuration.schedule.isLeading ? configuration.sleep?.longest : nil
    let isWoken = await signal.wait(for: pacer.schedule.wait, longest: longest, on: reactor)
    if signal.hasSlept { resume() }
    return isWoken
  }

  /// Work that was missed is found by the next look, and so is what another server than before holds.
  private func resume() {
    health.resumed(now: Reactor.now)
    pacer.ask()
    isClockSuspect = true
    needsAlarm = true
  }

  /// Lets the process sleep when nothing waits that a poll would find, not even behind a shut route, and what is due later
  /// has its alarm.
  private func fallAsleepIfDue(on reactor: isolated Reactor) async {
    guard let sleep = configuration.sleep, configuration.schedule.isLeading, mayFallAsleep,
      sleep.isDue(now: Reactor.now)
    else { return }
    var limits = ClaimLimits(eventsMax: 1, deliveriesMax: 1, lanes: lanes.all, lease: configuration.lease)
    limits.lookBack = .zero
    do throws(PostgresError) {
      guard try await !store.waitingWork(limits, on: reactor).hasOthers else { return }
      try await setAlarm(on: reactor)
      if mayFallAsleep, sleep.begin(now: Reactor.now) { logger.debug("the database may sleep") }
    } catch {
      lookFailed(error, on: reactor)
    }
  }

  private var mayFallAsleep: Bool {
    !isDraining && !isAway && !pacer.isFailing && placesInFlight == 0 && !recorder.isRetrying
  }
}
