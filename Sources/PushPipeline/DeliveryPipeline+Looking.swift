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
    guard let limits = claimLimits else { return }
    let (cause, wokenAt) = (self.cause, self.wokenAt == 0 ? Reactor.now : self.wokenAt)
    (self.cause, self.wokenAt) = (.poll, 0)
    var look = Look(cause: cause, wokenAt: wokenAt, askedAt: Reactor.now)
    do throws(PostgresError) {
      let events = try await claim(limits, for: &look, on: reactor)
      noteLook(events, within: limits, on: reactor)
      process(events, found: look, on: reactor)
      if needsAlarm { try await setAlarm(on: reactor) }
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  private func claim(
    _ limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent] {
    do throws(PostgresError) {
      return try await store.claim(limits, on: reactor)
    } catch {
      guard error.blamesStatement else { throw error }
      logger.error("cannot look at everything at once", metadata: ["error": "\(error)"])
      look.askedAt = Reactor.now
      return try await claimOneByOne(limits, on: reactor)
    }
  }

  /// What the next claim may take; nil when there is no room.
  private var claimLimits: ClaimLimits? {
    let room = configuration.pushesInFlightMax - max(pushesInFlight, placesInFlight)
    guard room > 0, !recorder.isRetrying else { return nil }
    let deliveriesMax = min(configuration.deliveriesPerClaimMax, room)
    var limits = ClaimLimits(
      eventsMax: min(configuration.eventsPerClaimMax, max(1, room / placesPerEvent)), deliveriesMax: deliveriesMax,
      lanes: lanes.claimable(deliveriesMax: deliveriesMax), lease: configuration.lease)
    limits.recipientsMax = configuration.recipientsPerClaimMax
    limits.rescuesMax = configuration.rescuesMax
    return limits
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

  private func noteLook(_ events: [PushEvent], within limits: ClaimLimits, on reactor: isolated Reactor) {
    if isFailing { logger.notice("the database answers again") }
    isFailing = false
    let wasBusy = schedule.isBusy
    schedule.looked(found: events.count, now: Reactor.now)
    if schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(schedule.isBusy, on: reactor) }
    let new = events.prefix { $0.origin == .inbox }
    placesPerEvent = new.isEmpty ? 1 : max(1, new.reduce(0) { $0 + $1.places } / new.count)
    guard new.count >= limits.eventsMax || events.count - new.count >= limits.deliveriesMax else { return }
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

/// Why and when the database was looked at; monotonic nanoseconds.
struct Look {
  let cause: WakeCause
  let wokenAt: UInt64
  /// When the claim was asked for: its lease cannot have begun earlier.
  var askedAt: UInt64
}

extension PushEvent {
  /// What it takes of the room in flight.
  var places: Int { max(1, recipients.count) }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has something, or may have.
  public func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }
}
