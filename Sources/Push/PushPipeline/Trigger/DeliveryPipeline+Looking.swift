internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Trigger: a look for work, and its claims.
extension DeliveryPipeline {
  /// New messages first, and everything else when the pacer says so.
  func look(on reactor: isolated Reactor) async {
    guard freePlaces != nil else { return await proveAnswer(on: reactor) }
    let wake = wakeMark.take()
    var look = Look(cause: wake.cause, wokenAt: wake.at, askedAt: Reactor.now)
    do throws(PostgresError) {
      try await prepare(on: reactor)
      if pacer.asksBeforeMessages(isWoken: look.isWoken, now: Reactor.now) { try await ask(&look, on: reactor) }
      if look.waiting?.hasMessages ?? true, !hasLeftOver || pacer.isEverythingFailing,
        pacer.beginsWithMessages(isWoken: look.isWoken, now: Reactor.now)
      {
        try await lookForMessages(&look, on: reactor)
      }
      let isBroughtByWake = look.isWoken && look.found == 0
      let wait = hasLeftOver ? .zero : pacer.thorough.wait(isBroughtByWake: isBroughtByWake, now: Reactor.now)
      if wait == .zero {
        try await lookForEverything(&look, on: reactor)
      } else if isBroughtByWake || pacer.thorough.isAskedFor {
        alarm.arm(after: wait, on: reactor)
      }
      lookEnded(look, on: reactor)
      // The next due moment matters only after everything that is due has been claimed.
      if alarm.isUnset, wait == .zero, !pacer.isEverythingFailing { try await alarm.set(by: store, on: reactor) }
    } catch {
      lookFailed(error, on: reactor)
    }
  }

  private func lookForMessages(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits else { return }
    if let lookBack = pacer.thorough.lookBack(now: Reactor.now) { limits.lookBack = lookBack }
    do throws(PostgresError) {
      let asks = pacer.asksForMessages(isWoken: look.isWoken)
      let haveCome = asks ? try await store.hasMessages(limits, on: reactor) : true
      let events = haveCome ? try await store.claimMessages(limits, on: reactor) : []
      pacer.messagesAnswered(found: events.count, now: Reactor.now)
      look.isAnswered = true
      take(events, within: limits, for: &look, on: reactor)
    } catch {
      guard !error.concernsConnection else { throw error }
      pacer.messagesFailed(now: Reactor.now, draw: sender.draw())
    }
  }

  /// Begins with what a claim has brought.
  func take(
    _ events: [PushEvent], within limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) {
    look.found += events.count
    if !events.isEmpty {
      health.foundWork(now: Reactor.now)
      configuration.sleep?.stayAwake()
    }
    let new = events.prefix { $0.origin == .inbox }
    room.learn(from: new)
    if limits.isReached(by: events) {
      look.isFull = true
      // Where more waits than one look takes, conversations take turns, and only a look for everything knows their order.
      pacer.ask()
    }
    process(events, found: look, on: reactor)
  }

  /// Recipients that may be claimed now; nil when nothing may.
  private var freePlaces: Int? {
    let free = configuration.pushesInFlightMax - max(room.places, delivery.inFlight)
    guard free > 0, !recorder.isRetrying, !owned.numbers.isEmpty, Reactor.now < ownedUntil else { return nil }
    return free
  }

  /// What the next claim may take, without the limits of lanes; nil when there is no room.
  var claimLimits: ClaimLimits? {
    guard let free = freePlaces else { return nil }
    var limits = ClaimLimits(
      eventsMax: min(configuration.eventsPerClaimMax, max(1, free / room.placesPerEvent)),
      deliveriesMax: min(configuration.deliveriesPerClaimMax, free), lease: configuration.lease)
    limits.recipientsMax = configuration.recipientsPerClaimMax
    limits.rescuesMax = configuration.rescuesMax
    limits.life = configuration.policy.timeToLive
    limits.owned = owned
    limits.held = room.held.sorted()
    return limits
  }

  private func lookEnded(_ look: Look, on reactor: isolated Reactor) {
    if look.isAnswered { lookAnswered() }
    let wasBusy = pacer.schedule.isBusy
    pacer.schedule.looked(found: look.found, now: Reactor.now)
    if pacer.schedule.isBusy != wasBusy { observer?.pipelineBusyChanged(!wasBusy, on: reactor) }
    if pacer.schedule.asksForNotifyCost(now: Reactor.now) { observer?.pipelineAsksForNotifyCost(on: reactor) }
    guard look.isFull else { return }
    signal.signal(on: reactor)
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

/// The recipients that a pipeline has in flight.
struct Room {
  /// Recipients between claim and record, and at least one for each event.
  var places = 0
  /// Of the last claim, which bounds the next one; at least one.
  private(set) var placesPerEvent = 1
  /// Messages that are in hand without a lease.
  private(set) var held: Set<HostID> = []
  /// Events of each shard.
  private var events = [Int32: Int]()

  mutating func add(_ event: PushEvent) {
    places += event.places
    events[event.shard, default: 0] += 1
    if !event.isLeased { held.insert(event.subject.id) }
  }

  /// It is recorded, set aside or forgotten.
  mutating func remove(_ event: PushEvent) {
    places -= event.places
    events[event.shard, default: 0] -= 1
    if !event.isLeased { held.remove(event.subject.id) }
  }

  func isEmpty(of shard: Int32) -> Bool { events[shard, default: 0] == 0 }

  mutating func learn(from new: ArraySlice<PushEvent>) {
    if !new.isEmpty { placesPerEvent = max(1, new.reduce(0) { $0 + $1.places } / new.count) }
  }
}

extension PushEvent {
  /// What it takes of the room in flight.
  var places: Int { max(1, recipients.count) }
}

// Trigger: the look for all that is not a new message, and what must be done before it can find everything.
extension DeliveryPipeline {
  /// Claims new events of all kinds, what is due, and what lost claims hold. Nothing is claimed when the look learns that
  /// nothing of it waits.
  func lookForEverything(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits, !pacer.everything.isPutOff(isWoken: look.isWoken, now: Reactor.now) else { return }
    if look.waiting == nil, pacer.asksBeforeEverything(now: Reactor.now) {
      try await ask(&look, on: reactor)
      if look.waiting?.hasOthers == false {
        hasLeftOver = false
        return
      }
    }
    if look.waiting?.hasChangedRows ?? true { followChangedRows(on: reactor) }
    limits.lanes = sender.lanes.claimable(deliveriesMax: limits.deliveriesMax)
    limits.eventsMax = pacer.eventsOfEverything(limits.eventsMax, now: Reactor.now)
    look.askedAt = Reactor.now
    pacer.thorough.begin(at: Reactor.now)
    guard let events = try await claim(limits, for: &look, on: reactor) else { return }
    if pacer.isEverythingFailing { alarm.isUnset = true }
    if !limits.isReached(by: events) { hasLeftOver = false }
    look.isAnswered = true
    pacer.everythingAnswered(
      places: events.reduce(0) { $0 + $1.places }, others: events.count { $0.subject.kind != MessagePush.name },
      leftNothing: !limits.isReached(by: events), now: Reactor.now)
    take(events, within: limits, for: &look, on: reactor)
  }

  /// A tenth of a second of the database's work at a time.
  private static let rowsFollowedAtOnce = 100

  /// Lets Live Activities follow changed rows, and then claims their pushes. It goes on beside the looks, so that no message waits for
  /// it.
  private func followChangedRows(on reactor: isolated Reactor) {
    guard !isFollowing, !isDraining else { return }
    isFollowing = true
    reactor.start {
      defer { self.isFollowing = false }
      do throws(PostgresError) {
        while !self.isDraining {
          let followed = try await self.store.followChangedRows(Self.rowsFollowedAtOnce, on: reactor)
          if followed > 0 { self.wake(.due, on: reactor) }
          guard followed == Self.rowsFollowedAtOnce else { return }
        }
      } catch {
        self.logger.debug("Live Activities cannot follow their rows", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Asks what waits, before a claim that would probably find nothing. If the database refuses to say, the claims follow.
  func ask(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits else { return }
    if let lookBack = pacer.thorough.lookBack(now: Reactor.now) { limits.lookBack = lookBack }
    limits.lanes = sender.lanes.claimable(deliveriesMax: limits.deliveriesMax)
    let askedAt = Reactor.now
    do throws(PostgresError) {
      let waiting = try await store.waitingWork(limits, on: reactor)
      if !waiting.hasOthers { pacer.thorough.nothingWaits(askedAt: askedAt, now: Reactor.now) }
      look.waiting = waiting
      look.isAnswered = true
    } catch {
      guard !error.concernsConnection else { throw error }
    }
  }

  /// - Returns: nil when it failed for another reason than a single piece of work.
  private func claim(
    _ limits: ClaimLimits, for look: inout Look, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent]? {
    do throws(PostgresError) {
      return try await store.claim(limits, on: reactor)
    } catch {
      guard !error.concernsConnection else { throw error }
      pacer.everything.failed(now: Reactor.now, draw: sender.draw())
      lookRefused(error, on: reactor)
      guard error.blamesStatement || pacer.everything.count >= FailingLooks.triesTogether else { return nil }
      look.askedAt = Reactor.now
      let events = try await claimOneByOne(limits, on: reactor)
      // The rest of what waits.
      if events != nil { signal.signal(on: reactor) }
      return events
    }
  }

  /// Rare work before a claim can find all that waits. If the database refuses it, the claim follows all the same.
  func prepare(on reactor: isolated Reactor) async throws(PostgresError) {
    guard hasQueuedReleases || isClockSuspect else { return }
    let (releases, bringsForward) = (hasQueuedReleases, isClockSuspect)
    (hasQueuedReleases, isClockSuspect) = (false, false)
    do throws(PostgresError) {
      if releases {
        metrics.countQueuedReleases(
          try await store.releaseQueued(rowsMax: configuration.eventsPerClaimMax, on: reactor))
      }
      // Another server may have taken over with a clock that is behind: work that was enqueued by the earlier one's clock then
      // seems to come from the future.
      if bringsForward { try await store.bringForward(on: reactor) }
    } catch {
      guard !error.concernsConnection else { throw error }
      lookRefused(error, on: reactor)
    }
  }
}

extension ClaimLimits {
  /// Whether a claim came back full, so that there may be more.
  func isReached(by events: [PushEvent]) -> Bool {
    let newCount = events.prefix { $0.origin == .inbox }.count
    return newCount >= eventsMax || events.count - newCount >= deliveriesMax
  }
}

// Trigger: one piece of work whose look fails must not keep all others from being claimed. The host's functions may fail for a
// single message, or take too long for a large one.
extension DeliveryPipeline {
  /// Pieces leased at once; few, because each look is a separate round trip.
  private static let piecesMax = 16

  /// The results of a look at each piece alone.
  private struct Pieces {
    var events: [PushEvent] = []
    var failed: [(piece: LeasedWork, error: PostgresError)] = []
  }

  /// Leases some work, then looks at each piece alone. A piece that fails alone keeps its lease, comes back when the lease runs
  /// out, and is parked with its error after too many times. Where all fail, the host's functions or the server are at fault:
  /// the pieces are given back and not parked.
  /// - Returns: nil when looks still fail for reasons other than a piece.
  func claimOneByOne(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent]? {
    let pieces = try await lookAtPieces(within: limits, on: reactor)
    guard pieces.failed.isEmpty || pieces.events.isEmpty else {
      try await leave(pieces.failed, on: reactor)
      return pieces.events
    }
    guard pieces.events.isEmpty else { return pieces.events }
    return try await judge(pieces.failed, on: reactor) ? [] : nil
  }

  private func lookAtPieces(
    within limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Pieces {
    var limits = limits
    limits.eventsMax = min(limits.eventsMax, Self.piecesMax)
    limits.deliveriesMax = min(limits.deliveriesMax, Self.piecesMax)
    limits.lanes = [:]
    var pieces = Pieces()
    let end = Reactor.now + configuration.lease.clampedNanoseconds / 4
    for piece in try await store.lease(limits, on: reactor) {
      // The rest comes back when its lease is over, so that the pieces looked at stay fresh.
      guard Reactor.now < end else { break }
      do throws(PostgresError) {
        if let event = try await store.look(at: piece, recipientsMax: limits.recipientsMax, on: reactor) {
          pieces.events.append(event)
        }
      } catch {
        guard !error.concernsConnection else { throw error }
        pieces.failed.append((piece, error))
      }
    }
    return pieces
  }

  /// No look at a piece succeeded. Whether the pieces are at fault, and keep their leases.
  private func judge(
    _ failed: [(piece: LeasedWork, error: PostgresError)], on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    var wait = configuration.lease
    do throws(PostgresError) {
      try await store.lookAtNothing(on: reactor)
      let isAlone = failed.count == 1 && failed[0].error.blamesStatement
      if isAlone || (!failed.isEmpty && othersWereFound(now: Reactor.now)) {
        try await leave(failed, on: reactor)
        return true
      }
    } catch {
      guard !error.concernsConnection else { throw error }
      // All work would fail like this, so a wait would not help other work.
      wait = .zero
    }
    for (piece, error) in failed { try await store.note(error, of: piece, givingBackFor: wait, on: reactor) }
    return false
  }

  /// Whether a look at other work succeeded within a lease, which clears the host's functions and the server.
  private func othersWereFound(now: UInt64) -> Bool {
    guard let foundAt = health.foundAt else { return false }
    return now &- foundAt < configuration.lease.clampedNanoseconds
  }

  /// Keeps their leases, and writes the errors into their rows.
  private func leave(
    _ failed: [(piece: LeasedWork, error: PostgresError)], on reactor: isolated Reactor
  ) async throws(PostgresError) {
    for (piece, error) in failed {
      logger.error(
        "cannot look at this one; it is tried again when its lease is over",
        metadata: ["subject_id": "\(piece.subject.id.text)"].merging(error.logged) { $1 })
      try await store.note(error, of: piece, on: reactor)
    }
  }
}
