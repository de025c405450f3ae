internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Trigger: the look for all that is not a new message, and what must be done before it can find everything.
extension DeliveryPipeline {
  /// Claims new events of all kinds, what is due, and what lost claims hold. Nothing is claimed when the look learns that
  /// nothing of it waits.
  func lookForEverything(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits, !pacer.isEverythingPutOff(isWoken: look.isWoken, now: Reactor.now) else { return }
    if look.waiting == nil, pacer.asksBeforeEverything(now: Reactor.now) {
      try await ask(&look, on: reactor)
      if look.waiting?.hasOthers == false { return }
    }
    if look.waiting?.hasChangedRows ?? true { followChangedRows(on: reactor) }
    limits.lanes = lanes.claimable(deliveriesMax: limits.deliveriesMax)
    limits.eventsMax = pacer.eventsOfEverything(limits.eventsMax, now: Reactor.now)
    limits.messageAge = pacer.messageAge(now: Reactor.now)
    look.askedAt = Reactor.now
    pacer.everythingBegan(now: Reactor.now)
    guard let events = try await claim(limits, for: &look, on: reactor) else { return }
    if pacer.isEverythingFailing { needsAlarm = true }
    look.isAnswered = true
    pacer.everythingAnswered(
      places: events.reduce(0) { $0 + $1.places }, others: events.count { $0.subject.kind != MessagePush.name },
      leftNothing: !limits.isReached(by: events), now: Reactor.now)
    take(events, within: limits, for: &look, on: reactor)
  }

  /// Lets Live Activities follow changed rows, and then claims their pushes. It goes on beside the looks, so that no message waits for
  /// it.
  private func followChangedRows(on reactor: isolated Reactor) {
    guard !isFollowing, !isDraining else { return }
    isFollowing = true
    reactor.start { await self.followAllChangedRows(on: reactor) }
  }

  /// A tenth of a second of the database's work at a time.
  private static let rowsFollowedAtOnce = 100

  private func followAllChangedRows(on reactor: isolated Reactor) async {
    defer { isFollowing = false }
    do throws(PostgresError) {
      while !isDraining {
        let followed = try await store.followChangedRows(Self.rowsFollowedAtOnce, on: reactor)
        if followed > 0 { wake(.due, on: reactor) }
        guard followed == Self.rowsFollowedAtOnce else { return }
      }
    } catch {
      logger.debug("Live Activities cannot follow their rows", metadata: ["error": "\(error)"])
    }
  }

  /// Asks what waits, before a claim that would probably find nothing. If the database refuses to say, the claims follow.
  func ask(_ look: inout Look, on reactor: isolated Reactor) async throws(PostgresError) {
    guard var limits = claimLimits else { return }
    if let lookBack = pacer.lookBack(now: Reactor.now) { limits.lookBack = lookBack }
    limits.lanes = lanes.claimable(deliveriesMax: limits.deliveriesMax)
    let askedAt = Reactor.now
    do throws(PostgresError) {
      let waiting = try await store.waitingWork(limits, on: reactor)
      if !waiting.hasOthers { pacer.nothingElseWaits(askedAt: askedAt, now: Reactor.now) }
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
      pacer.everythingFailed(now: Reactor.now, draw: jitter.draw())
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
