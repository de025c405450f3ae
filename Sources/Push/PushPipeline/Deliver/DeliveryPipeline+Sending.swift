internal import APNS
internal import APNSCore
internal import FoundationEssentials
internal import PushKinds
internal import PushRules
internal import PushStore
internal import Reactors

/// Where one push goes.
struct PushTarget {
  let device: PushDevice
  /// The device's owner.
  let user: HostID
}

// Deliver: one push to each device of a recipient, over the lane that its registration names.
extension DeliveryPipeline {
  func deliver(
    _ push: PreparedPush?, to index: Int, of progress: EventProgress, on reactor: isolated Reactor
  ) {
    progress.begin(index)
    let recipient = progress.event.recipients[index]
    for device in recipient.devices {
      do throws(PushRequestError) {
        guard let push else { throw PushRequestError(.payloadEmpty, "there is nothing to say") }
        let route = try configuration.route(to: device)
        let request = try push.request(
          to: device, of: route.app, for: recipient, of: progress.event, timeToLive: configuration.policy.timeToLive)
        send(request, to: device, over: route, of: index, in: progress, on: reactor)
      } catch {
        progress.add(.refused(reason: error.code.rawValue), for: device, of: index)
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
      progress.add(verdict, for: device, of: index)
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
        progress.add(verdict, for: device, of: index, after: trail)
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
        timeToLive: progress.event.recipients[index].situation.life ?? configuration.policy.timeToLive,
        elapsed: progress.elapsedSinceAsked, draw: jitter.draw()))
  }

  /// Sends a push and judges its end.
  /// - Parameter deadline: of both environments together.
  func verdict(
    on request: PushRequest, to target: PushTarget, over lane: Lane, until deadline: UInt64,
    trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    let shutCount = lane.shutCount
    let attempt = await channel.send(
      request, over: lane.route, until: deadline, permit: lane.permit, on: reactor)
    if attempt == .withdrawn { return lane.withdraw() }
    trail.add(attempt, of: request, over: lane.route)
    guard attempt.mayBeElsewhere, !target.device.isChannel else {
      return await judge(attempt, to: target, over: lane, on: reactor)
    }
    return await tryElsewhere(
      request, after: attempt, to: target, over: lane, sinceShut: shutCount, until: deadline, trail: &trail,
      on: reactor)
  }

  /// The lane's verdict. A token that it takes for bad without proof is dropped a moment later, unless the lane has shut by
  /// then.
  func judge(
    _ attempt: PushAttempt, to target: PushTarget, over lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    var verdict = tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
      lane.conclude(attempt, to: target.device.token, of: target.user, now: Reactor.now, draw: jitter.draw())
    }
    // A registration without an app was sent to as the default app's, and may be that of an earlier default: such a refusal
    // proves nothing about the token.
    if target.device.app == nil, attempt.reason == "DeviceTokenNotForTopic" { verdict = verdict.sparingToken }
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
