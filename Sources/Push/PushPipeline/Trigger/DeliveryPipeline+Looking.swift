internal import Logging
public import Postgres
internal import PushRules
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
    guard claimLimits != nil else { return await proveAnswer(on: reactor) }
    var look = Look(cause: cause, wokenAt: wokenAt == 0 ? Reactor.now : wokenAt, askedAt: Reactor.now)
    (cause, wokenAt) = (.poll, 0)
    do throws(PostgresError) {
      try await prepare(on: reactor)
      let isLate = thoroughLooks.wait(isBroughtByWake: false, now: Reactor.now) > .zero
      if !thoroughLooks.isAskedFor || allLooks.since != nil || isLate { try await lookForMessages(&look, on: reactor) }
      let isBroughtByWake = look.isWoken && look.found == 0
      let wait = thoroughLooks.wait(isBroughtByWake: isBroughtByWake, now: Reactor.now)
      if wait == .zero {
        try await lookForEverything(&look, on: reactor)
      } else if isBroughtByWake || thoroughLooks.isAskedFor {
        alarm.arm(after: wait, on: reactor)
      }
      noteLook(look, on: reactor)
      // What is due first is asked for after everything that is due has been claimed.
      if needsAlarm, wait == .zero, allLooks.since == nil { try await setAlarm(on: reactor) }
    } catch {
      noteFailure(error, on: reactor)
    }
  }

  private func lookForMessages(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits, !messageLooks.isPutOff(isWoken: look.isWoken, now: Reactor.now) else { return }
    if let lookBack = thoroughLooks.lookBack(now: Reactor.now) { limits.lookBack = lookBack }
    do throws(PostgresError) {
      let events = try await store.claimMessages(limits, on: reactor)
      if messageLooks.since != nil { allLooks.retryNow() }
      messageLooks.succeeded()
      look.isAnswered = true
      take(events, within: limits, for: &look, on: reactor)
    } catch {
      guard !error.concernsConnection else { throw error }
      messageLooks.failed(now: Reactor.now, draw: jitter.draw())
      // The look for everything says which of them it is.
      thoroughLooks.ask()
    }
  }

  private func lookForEverything(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits, !allLooks.isPutOff(isWoken: look.isWoken, now: Reactor.now) else { return }
    limits.lanes = lanes.claimable(deliveriesMax: limits.deliveriesMax)
    look.askedAt = Reactor.now
    thoroughLooks.begin(at: Reactor.now)
    guard let events = try await claim(limits, for: &look, on: reactor) else { return }
    if allLooks.since != nil { needsAlarm = true }
    (allLooks, messageLooks) = (FailingLooks(), FailingLooks())
    look.isAnswered = true
    thoroughLooks.end(
      places: events.reduce(0) { $0 + $1.places }, leftNothing: !limits.isReached(by: events), at: Reactor.now)
    take(events, within: limits, for: &look, on: reactor)
  }

  /// - Returns: nil when it failed for another reason than a single piece of work.
  private func claim(
    _ limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent]? {
    do throws(PostgresError) {
      return try await store.claim(limits, on: reactor)
    } catch {
      guard !error.concernsConnection else { throw error }
      allLooks.failed(now: Reactor.now, draw: jitter.draw())
      noteRefusal(error, on: reactor)
      guard error.blamesStatement || allLooks.count >= FailingLooks.triesTogether else { return nil }
      look.askedAt = Reactor.now
      let events = try await claimOneByOne(limits, on: reactor)
      // The rest of what waits.
      if events != nil { signal.signal(on: reactor) }
      return events
    }
  }

  private func take(
    _ events: [PushEvent], within limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) {
    look.found += events.count
    if !events.isEmpty { foundAt = Reactor.now }
    let new = events.prefix { $0.origin == .inbox }
    if !new.isEmpty { placesPerEvent = max(1, new.reduce(0) { $0 + $1.places } / new.count) }
    if limits.isReached(by: events) {
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
    limits.life = configuration.policy.timeToLive
    return limits
  }

  /// What is rarely to be done before a claim can find all that waits. What the database refuses of it keeps no claim back.
  private func prepare(on reactor: isolated Reactor) async throws(PostgresError) {
    guard hasQueuedReleases || isClockSuspect else { return }
    let (releases, bringsForward) = (hasQueuedReleases, isClockSuspect)
    (hasQueuedReleases, isClockSuspect) = (false, false)
    do throws(PostgresError) {
      if releases {
        metrics.noteQueuedReleases(try await store.releaseQueued(rowsMax: configuration.eventsPerClaimMax, on: reactor))
      }
      // Another server may have taken over, whose clock is behind: what was enqueued by the former one's then seems to come
      // from the future.
      if bringsForward { try await store.bringForward(on: reactor) }
    } catch {
      guard !error.concernsConnection else { throw error }
      noteRefusal(error, on: reactor)
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

  private func noteLook(_ look: Look, on reactor: isolated Reactor) {
    if look.isAnswered { noteAnswer(on: reactor) }
    let wasBusy = schedule.isBusy
    schedule.looked(found: look.found, now: Reactor.now)
    if schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(schedule.isBusy, on: reactor) }
    if schedule.asksForNotifyCost(now: Reactor.now) { observer?.pipelineAsksForNotifyCost(on: reactor) }
    guard look.isFull else { return }
    signal.signal(on: reactor)
    observer?.pipelineFoundMore(on: reactor)
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
  /// Whether the database has answered.
  var isAnswered = false

  var isWoken: Bool { cause != .poll }
}

extension ClaimLimits {
  /// Whether a claim came back full, so that there may be more.
  fileprivate func isReached(by events: [PushEvent]) -> Bool {
    let newCount = events.prefix { $0.origin == .inbox }.count
    return newCount >= eventsMax || events.count - newCount >= deliveriesMax
  }
}

extension PushEvent {
  /// What it takes of the room in flight.
  var places: Int { max(1, recipients.count) }
}

extension DeliveryPipeline: PostgresPoolObserver {
  /// What was recorded last may be forgotten, and what waits to be recorded goes before all claims.
  public func databaseReturned(lostAt: UInt64, on reactor: isolated Reactor) {
    recorder.repeatRecent(lostAt: lostAt, on: reactor)
  }
}

extension DeliveryPipeline: WakeHandler {
  /// The database has something, or may have.
  public func databaseWoke(on reactor: isolated Reactor) {
    wake(.notify, on: reactor)
  }

  /// The database has put releases of holds into its queue. More than one look takes are left to the rescuer.
  public func releasesQueued(on reactor: isolated Reactor) {
    hasQueuedReleases = true
    wake(.due, on: reactor)
  }

  /// The database tells of what comes, or has stopped to.
  public func hearingChanged(_ isHearing: Bool, on reactor: isolated Reactor) {
    schedule.isHearing = isHearing
    isClockSuspect = isClockSuspect || isHearing
  }

  /// The database's commits take as long when they notify.
  public func notifyCostMeasured(_ cost: Duration, on reactor: isolated Reactor) {
    schedule.noteNotifyCost(cost, now: Reactor.now)
  }
}
