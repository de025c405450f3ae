internal import Channels
internal import FoundationEssentials
internal import PushRules
internal import PushStore
internal import Reactors

/// Where one push goes, and whose it is.
struct OwnedTarget {
  let target: PushTarget
  let user: HostID
}

// Deliver: one push to each device of a recipient, over the lane that its registration names.
extension DeliveryPipeline {
  func deliver(
    _ push: ComposedPush?, to index: Int, of progress: EventProgress, fold: HistoryEntry.Fold? = nil,
    on reactor: isolated Reactor
  ) {
    progress.begin(index, fold: fold)
    let recipient = progress.event.recipients[index]
    let isShadowed = configuration.shadow.covers(progress.event.subject.kind)
    for target in recipient.targets {
      if let wait = recipient.deviceWaits[target.mark], wait.until > progress.event.claimedAt {
        turnAway(target, of: index, in: progress, .resting(wait))
        continue
      }
      do throws(PushRequestError) {
        guard let push else { throw PushRequestError(.payloadEmpty, "there is nothing to say") }
        guard let deliverer = deliverers[target.channel] else {
          turnAway(target, of: index, in: progress, .refused(reason: Lanes.isNotSetUp))
          continue
        }
        let route = try deliverer.route(to: target)
        let (composed, locale) = push.push(for: target)
        let form = try progress.form(of: composed, for: target, by: content, words.current(on: reactor))
        let outgoing = progress.event.push(
          form.push, to: target, of: recipient, timeToLive: configuration.policy.timeToLive)
        let request = try deliverer.request(for: outgoing, over: route)
        if isShadowed {
          turnAway(target, of: index, in: progress, shadow(of: request, over: route))
        } else {
          let trail = AttemptTrail(locale: locale, form.note)
          send(request, trail, through: deliverer, to: target, over: route, of: index, in: progress, on: reactor)
        }
      } catch {
        turnAway(target, of: index, in: progress, .refused(reason: error.code.rawValue))
      }
    }
  }

  /// What a push comes to that is not sent: its service would have had it now. Breakers, quarantines and limits of a route know
  /// nothing, because no push of the kind takes it. Nothing waits either for a route that an operator may configure later.
  private func shadow(of request: any DeliveryRequest, over route: DeliveryRoute) -> DeviceVerdict {
    guard lanes[route] != nil else { return .refused(reason: Lanes.isNotConfigured) }
    return .shadowed(lane: route.name, identifier: request.identifier)
  }

  private func turnAway(_ target: PushTarget, of index: Int, in progress: EventProgress, _ verdict: DeviceVerdict) {
    progress.add(verdict, for: target, of: index)
    finishIfComplete(index, of: progress)
  }

  private func send(
    _ request: any DeliveryRequest, _ trail: AttemptTrail, through deliverer: any PushDeliverer, to target: PushTarget,
    over route: DeliveryRoute, of index: Int, in progress: EventProgress, on reactor: isolated Reactor
  ) {
    switch lanes.admit(target.mark, to: route) {
    case .turnedAway(let verdict): turnAway(target, of: index, in: progress, verdict)
    case .admitted(let lane):
      pushesInFlight += 1
      let owned = OwnedTarget(target: target, user: progress.event.recipients[index].userID)
      reactor.start {
        let deadline = progress.claimedAt &+ self.configuration.pushLimit.clampedNanoseconds
        var trail = trail
        var verdict = await self.verdict(
          on: request, through: deliverer, to: owned, over: lane, until: deadline, trail: &trail, on: reactor)
        var tries = 0
        while let wait = self.earlyRetry(after: verdict, tries, of: index, in: progress, until: deadline) {
          tries += 1
          progress.note(trail, verdict, for: target, of: index)
          trail.forgetEnds()
          await reactor.sleep(for: wait)
          switch self.lanes.admit(target.mark, to: route) {
          case .turnedAway(let other): verdict = other
          case .admitted(let lane):
            verdict = await self.verdict(
              on: request, through: deliverer, to: owned, over: lane, until: deadline, trail: &trail, on: reactor)
          }
        }
        self.pushesInFlight -= 1
        progress.add(verdict, for: target, of: index, after: trail)
        self.finishIfComplete(index, of: progress)
        self.recordIfDecided(progress, on: reactor)
      }
    }
  }

  /// The wait of a device that is tried again within its claim; nil for the end of its tries.
  ///
  /// An event is recorded when its last device has reported. While one of them is silent, the others do not wait for it.
  private func earlyRetry(
    after verdict: DeviceVerdict, _ tries: Int, of index: Int, in progress: EventProgress, until deadline: UInt64
  ) -> Duration? {
    guard case .postponed(_, let minimum) = verdict, progress.pendingDevices > 1 else { return nil }
    let wait = configuration.retry.wait(
      afterRetries: progress.event.recipients[index].retries + tries, minimum: minimum, draw: jitter.draw())
    return Reactor.now &+ (wait + Self.leastTry).clampedNanoseconds < deadline ? wait : nil
  }

  /// Less time is not worth a try: APNs answers within some tens of milliseconds, over a new connection in some hundreds.
  private static let leastTry = Duration.seconds(1)

  private func finishIfComplete(_ index: Int, of progress: EventProgress) {
    progress.finishIfComplete(
      index,
      pacing: RetryPacing(
        policy: configuration.retry, attempts: progress.event.attempts,
        timeToLive: progress.event.recipients[index].situation.life ?? configuration.policy.timeToLive,
        elapsed: progress.elapsedSinceAsked, draw: jitter.draw()))
  }

  /// Sends a push and judges its end.
  /// - Parameter deadline: of both environments together.
  func verdict(
    on request: any DeliveryRequest, through deliverer: any PushDeliverer, to target: OwnedTarget, over lane: Lane,
    until deadline: UInt64, trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    let shutCount = lane.shutCount
    let attempt = await deliverer.send(
      request, over: lane.route, until: deadline, permit: lane.permit, on: reactor)
    if attempt.isWithdrawn { return lane.withdraw() }
    trail.add(attempt, of: request, over: lane.route)
    if lane.route.channel != .apns { metrics.count(attempt, over: lane.route) }
    guard attempt.otherEnvironment == .mayKnowTarget else {
      return await judge(attempt, to: target, over: lane, on: reactor)
    }
    return await tryElsewhere(
      request, after: attempt, to: target, over: lane, sinceShut: shutCount, until: deadline, trail: &trail,
      on: reactor)
  }

  /// The lane's verdict. A token that it takes for bad without proof is dropped a moment later, unless the lane has shut by
  /// then.
  func judge(
    _ attempt: DeliveryAttempt, to target: OwnedTarget, over lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    var verdict = tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
      lane.conclude(attempt, to: target.target.mark, of: target.user, now: Reactor.now, draw: jitter.draw())
    }
    if attempt.sparesTarget { verdict = verdict.sparingTarget }
    guard case .dead = verdict, attempt.disposition == .suspectToken else { return verdict }
    let shutCount = lane.shutCount
    await reactor.sleep(for: lane.confirmation)
    return lane.confirm(verdict, sinceShut: shutCount)
  }

  /// Ends a push; wakes what waited for the lane, and tells the other reactors when the end has stopped it.
  func tellingOthers(
    of lane: Lane, because reason: String?, on reactor: isolated Reactor,
    _ conclude: () -> (verdict: DeviceVerdict, hasMoreRoom: Bool)
  ) -> DeviceVerdict {
    let wasMisconfigured = lane.isMisconfigured
    let (verdict, hasMoreRoom) = conclude()
    if hasMoreRoom { wake(.due, on: reactor) }
    if !wasMisconfigured, lane.isMisconfigured {
      observer?.pipelineStopped(lane.route, because: reason, on: reactor)
    }
    return verdict
  }
}
