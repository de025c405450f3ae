internal import Logging
internal import Postgres
public import PushStore
public import Reactors

// Trigger.
extension DeliveryPipeline {
  /// The first cause since the last look names it.
  func noteWake(_ newCause: WakeCause) {
    if newCause == .due { thoroughLooks.ask() }
    guard cause == .poll || wokenAt == 0 else { return }
    cause = newCause
    wokenAt = Reactor.now
  }

  /// New messages first, and everything else when it is time for that.
  func look(on reactor: isolated Reactor) async {
    let (cause, wokenAt) = (self.cause, self.wokenAt == 0 ? Reactor.now : self.wokenAt)
    guard claimLimits != nil else { return }
    (self.cause, self.wokenAt) = (.poll, 0)
    var look = Look(cause: cause, wokenAt: wokenAt, askedAt: Reactor.now)
    do throws(PostgresError) {
      if !thoroughLooks.isAskedFor { try await lookForMessages(&look, on: reactor) }
      let isBroughtByWake = cause != .poll && look.found == 0
      if thoroughLooks.isDue(isBroughtByWake: isBroughtByWake, now: Reactor.now) {
        try await lookForEverything(&look, on: reactor)
      } else if isBroughtByWake {
        alarm.arm(after: ThoroughLooks.shortestInterval, on: reactor)
      }
      noteLook(look, on: reactor)
      if needsAlarm { try await setAlarm(on: reactor) }
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  private func lookForMessages(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard let limits = claimLimits else { return }
    do throws(PostgresError) {
      take(try await store.claimMessages(limits, on: reactor), within: limits, for: &look, on: reactor)
    } catch {
      // The look for everything says which of them it is.
      guard error.blamesStatement else { throw error }
      thoroughLooks.ask()
    }
  }

  private func lookForEverything(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits else { return }
    limits.lanes = lanes.claimable(deliveriesMax: limits.deliveriesMax)
    look.askedAt = Reactor.now
    thoroughLooks.begin(at: Reactor.now)
    let events = try await claim(limits, for: &look, on: reactor)
    take(events, within: limits, for: &look, on: reactor)
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

  private func take(
    _ events: [PushEvent], within limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) {
    look.found += events.count
    let new = events.prefix { $0.origin == .inbox }
    if !new.isEmpty { placesPerEvent = max(1, new.reduce(0) { $0 + $1.places } / new.count) }
    if new.count >= limits.eventsMax || events.count - new.count >= limits.deliveriesMax {
      look.isFull = true
      // Where more waits than one look takes, conversations take turns, which only a look for everything knows of.
      thoroughLooks.ask()
    }
    process(events, found: look, on: reactor)
  }

  /// What the next claim may take, but for what waits for a lane; nil when there is no room.
  private var claimLimits: ClaimLimits? {
    let room = configuration.pushesInFlightMax - max(pushesInFlight, placesInFlight)
    guard room > 0, !recorder.isRetrying else { return nil }
    var limits = ClaimLimits(
      eventsMax: min(configuration.eventsPerClaimMax, max(1, room / placesPerEvent)),
      deliveriesMax: min(configuration.deliveriesPerClaimMax, room), lease: configuration.lease)
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

  private func noteLook(_ look: Look, on reactor: isolated Reactor) {
    if isFailing { logger.notice("the database answers again") }
    isFailing = false
    let wasBusy = schedule.isBusy
    schedule.looked(found: look.found, now: Reactor.now)
    if schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(schedule.isBusy, on: reactor) }
    if schedule.asksForNotifyCost(now: Reactor.now) { observer?.pipelineAsksForNotifyCost(on: reactor) }
    guard look.isFull else { return }
    signal.signal(on: reactor)
    observer?.pipelineFoundMore(on: reactor)
  }

  private func noteFailure(_ error: PostgresError, on reactor: isolated Reactor) {
    if !isFailing { logger.error("cannot claim work; it waits in the database", metadata: ["error": "\(error)"]) }
    isFailing = true
    needsAlarm = true
    thoroughLooks.ask()
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
  /// Events and deliveries that it has brought.
  var found = 0
  /// Whether it has brought as much as it may, so that there is more.
  var isFull = false
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

  /// The database tells of what comes, or has stopped to.
  public func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    schedule.isHearing = isHearing
  }

  /// The database's commits take as long when they notify.
  public func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    schedule.noteNotifyCost(cost, now: Reactor.now)
  }
}
