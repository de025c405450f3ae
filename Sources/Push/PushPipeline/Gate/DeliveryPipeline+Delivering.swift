internal import APNS
internal import APNSCore
internal import Logging
internal import Postgres
internal import PushRules
internal import PushStore
internal import Reactors

// Gate, compose, deliver.
extension DeliveryPipeline {
  func process(_ events: [PushEvent], found look: Look, on reactor: isolated Reactor) {
    let claimedAt = Reactor.now
    guard isFresh(look, at: claimedAt) else {
      return logger.warning("claimed too long ago; left to be claimed again", metadata: ["events": "\(events.count)"])
    }
    for event in events {
      let cause = event.origin == .delivery ? WakeCause.due : look.cause
      process(
        EventProgress(
          event, wokenBy: cause, wokenAt: look.wokenAt, askedAt: look.askedAt, claimedAt: claimedAt,
          decider: configuration.decider),
        on: reactor)
    }
  }

  /// A process that was stopped, or a machine that was, must not act on what it learnt before: by now the work may be
  /// somebody else's, and the recipient may have read. Half of the lease is left for the pushes themselves.
  private func isFresh(_ look: Look, at now: UInt64) -> Bool {
    now &- look.askedAt < configuration.lease.clampedNanoseconds / 2
  }

  private func process(_ progress: EventProgress, on reactor: isolated Reactor) {
    placesInFlight += progress.event.places
    var push: PreparedPush?
    var overdue: [Int: RecipientOutcome] = [:]
    for (index, recipient) in progress.event.recipients.enumerated() {
      switch gate.decision(for: recipient) {
      case .settled(let outcome) where outcome.hasExpired && progress.event.origin == .delivery:
        overdue[index] = outcome
      case .settled(let outcome):
        progress.settle(outcome, of: index)
      case .send:
        if push == nil { push = compose(progress.event) }
        deliver(push, to: index, of: progress, on: reactor)
      }
    }
    if overdue.isEmpty { return recordIfDecided(progress, on: reactor) }
    reactor.start { [overdue] in await self.settle(overdue, of: progress, on: reactor) }
  }

  /// What was tried has failed, for the reason that its last try met; what never was has expired.
  private func settle(
    _ overdue: [Int: RecipientOutcome], of progress: EventProgress, on reactor: isolated Reactor
  ) async {
    do throws(PostgresError) {
      let reasons = try await store.lastFailures(
        of: progress.event.subject, to: overdue.values.map(\.userID), on: reactor)
      for (index, outcome) in overdue { progress.settle(outcome.ended(by: reasons[outcome.userID]), of: index) }
      recordIfDecided(progress, on: reactor)
    } catch {
      logger.warning("cannot ask why pushes failed; they are claimed again", metadata: ["error": "\(error)"])
      release(progress.event.places, on: reactor)
    }
  }

  private func compose(_ event: PushEvent) -> PreparedPush? {
    do throws(PushRequestError) {
      return try composer.push(for: event)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.lowercased)", "error": "\(error)"])
      return nil
    }
  }

  private func deliver(
    _ push: PreparedPush?, to index: Int, of progress: EventProgress, on reactor: isolated Reactor
  ) {
    progress.begin(index)
    let recipient = progress.event.recipients[index]
    for device in recipient.devices {
      do throws(PushRequestError) {
        guard let push else { throw PushRequestError(.payloadEmpty, "there is nothing to say") }
        let route = try configuration.route(to: device)
        let request = try composer.request(push, for: device, of: route.app, to: recipient, in: progress.event)
        send(request, to: device, over: route, of: index, in: progress, on: reactor)
      } catch {
        progress.note(.refused(reason: error.code.rawValue), for: device, of: index)
        finishIfComplete(index, of: progress)
      }
    }
  }

  private func send(
    _ request: PushRequest, to device: PushDevice, over route: PushRoute, of index: Int, in progress: EventProgress,
    on reactor: isolated Reactor
  ) {
    switch lanes.admit(device.token, to: route) {
    case .turnedAway(let verdict):
      progress.note(verdict, for: device, of: index)
      finishIfComplete(index, of: progress)
    case .admitted(let lane):
      pushesInFlight += 1
      let target = PushTarget(device: device, user: progress.event.recipients[index].userID)
      reactor.start {
        let deadline = progress.claimedAt &+ self.configuration.pushLimit.clampedNanoseconds
        var trail = AttemptTrail()
        let verdict = await self.verdict(
          on: request, to: target, over: lane, until: deadline, trail: &trail, on: reactor)
        self.pushesInFlight -= 1
        progress.note(verdict, for: device, of: index, after: trail)
        self.finishIfComplete(index, of: progress)
        self.recordIfDecided(progress, on: reactor)
      }
    }
  }

  private func finishIfComplete(_ index: Int, of progress: EventProgress) {
    progress.finishIfComplete(
      index,
      pacing: RetryPacing(
        policy: configuration.retry, attempts: progress.event.attempts,
        timeToLive: configuration.policy.timeToLive, elapsed: progress.elapsedSinceAsked, draw: jitter.draw()))
  }
}
