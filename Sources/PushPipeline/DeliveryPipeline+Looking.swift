internal import Logging
internal import Postgres
public import PushStore
public import Reactors

// Trigger.
extension DeliveryPipeline {
  /// The first cause since the last look names it.
  func noteWake(_ newCause: WakeCause) {
    guard cause == .poll || wokenAt == 0 else { return }
    cause = newCause
    wokenAt = Reactor.now
  }

  func look(on reactor: isolated Reactor) async {
    let capacity = configuration.pushesInFlightMax - max(pushesInFlight, eventsInFlight)
    guard capacity > 0 else { return }
    let (cause, wokenAt) = (self.cause, self.wokenAt == 0 ? Reactor.now : self.wokenAt)
    (self.cause, self.wokenAt) = (.poll, 0)
    do throws(PostgresError) {
      let events = try await store.claim(
        eventsMax: min(configuration.eventsPerClaimMax, capacity),
        deliveriesMax: min(configuration.deliveriesPerClaimMax, capacity), lease: configuration.lease,
        on: reactor)
      noteLook(events, on: reactor)
      process(events, wokenBy: cause, wokenAt: wokenAt, on: reactor)
      if needsAlarm { try await setAlarm(on: reactor) }
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  /// Something is due, and nobody knows yet what comes after it; the next look asks, whatever wakes it.
  func alarmWentOff(on reactor: isolated Reactor) {
    needsAlarm = true
    wake(.due, on: reactor)
  }

  private func setAlarm(on reactor: isolated Reactor) async throws(PostgresError) {
    needsAlarm = false
    guard let wait = try await store.timeUntilNextDue(on: reactor), !isDraining else { return }
    alarm.arm(after: wait, on: reactor)
  }

  private func noteLook(_ events: [PushEvent], on reactor: isolated Reactor) {
    if isFailing { logger.notice("the database answers again") }
    isFailing = false
    let wasBusy = schedule.isBusy
    schedule.looked(found: events.count, now: Reactor.now)
    if schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(schedule.isBusy, on: reactor) }
    guard events.count >= configuration.eventsPerClaimMax else { return }
    signal.signal(on: reactor)
    observer?.pipelineFoundMore(on: reactor)
  }

  private func noteFailure(_ error: PostgresError, on reactor: isolated Reactor) {
    if !isFailing { logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error)"]) }
    isFailing = true
    needsAlarm = true
    let wasBusy = schedule.isBusy
    schedule.failed()
    if wasBusy { observer?.pipelineBusyChanged(false, on: reactor) }
  }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has something, or may have.
  public func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }
}
