internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Trigger: a look for work, and its claims.
extension DeliveryPipeline {
  /// New messages first, and everything else when the pacer says so.
  func look(on reactor: isolated Reactor) async {
    guard claimLimits != nil else { return await proveAnswer(on: reactor) }
    var look = Look(cause: cause, wokenAt: wokenAt == 0 ? Reactor.now : wokenAt, askedAt: Reactor.now)
    (cause, wokenAt) = (.poll, 0)
    do throws(PostgresError) {
      try await prepare(on: reactor)
      if pacer.asksBeforeMessages(isWoken: look.isWoken, now: Reactor.now) { try await ask(&look, on: reactor) }
      if look.waiting?.hasMessages ?? true, pacer.beginsWithMessages(isWoken: look.isWoken, now: Reactor.now) {
        try await lookForMessages(&look, on: reactor)
      }
      let isBroughtByWake = look.isWoken && look.found == 0
      let wait = pacer.waitForEverything(isBroughtByWake: isBroughtByWake, now: Reactor.now)
      if wait == .zero {
        try await lookForEverything(&look, on: reactor)
      } else if isBroughtByWake || pacer.isEverythingAskedFor {
        alarm.arm(after: wait, on: reactor)
      }
      lookEnded(look, on: reactor)
      // The next due moment matters only after everything that is due has been claimed.
      if needsAlarm, wait == .zero, !pacer.isEverythingFailing { try await setAlarm(on: reactor) }
    } catch {
      lookFailed(error, on: reactor)
    }
  }

  private func lookForMessages(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits else { return }
    if let lookBack = pacer.lookBack(now: Reactor.now) { limits.lookBack = lookBack }
    do throws(PostgresError) {
      let events = try await store.claimMessages(limits, on: reactor)
      pacer.messagesAnswered()
      look.isAnswered = true
      take(events, within: limits, for: &look, on: reactor)
    } catch {
      guard !error.concernsConnection else { throw error }
      pacer.messagesFailed(now: Reactor.now, draw: jitter.draw())
    }
  }

  /// Begins with what a claim has brought.
  func take(
    _ events: [PushEvent], within limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) {
    look.found += events.count
    if !events.isEmpty {
      foundAt = Reactor.now
      configuration.sleep?.stayAwake()
    }
    let new = events.prefix { $0.origin == .inbox }
    if !new.isEmpty { placesPerEvent = max(1, new.reduce(0) { $0 + $1.places } / new.count) }
    if limits.isReached(by: events) {
      look.isFull = true
      // Where more waits than one look takes, conversations take turns, and only a look for everything knows their order.
      pacer.ask()
    }
    process(events, found: look, on: reactor)
  }

  /// What the next claim may take, without the limits of lanes; nil when there is no room.
  var claimLimits: ClaimLimits? {
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

  private func lookEnded(_ look: Look, on reactor: isolated Reactor) {
    if look.isAnswered { lookAnswered(on: reactor) }
    let wasBusy = pacer.schedule.isBusy
    pacer.schedule.looked(found: look.found, now: Reactor.now)
    if pacer.schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(!wasBusy, on: reactor) }
    if pacer.schedule.asksForNotifyCost(now: Reactor.now) { observer?.pipelineAsksForNotifyCost(on: reactor) }
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
  var found = 0
  /// Whether it has brought as much as it may, so that there is more.
  var isFull = false
  var isAnswered = false
  /// What waited when the look asked; nil when it did not.
  var waiting: WaitingWork?

  var isWoken: Bool { cause != .poll }
}

extension PushEvent {
  /// What it takes of the room in flight.
  var places: Int { max(1, recipients.count) }
}
