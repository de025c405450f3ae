internal import APNS
internal import APNSCore
internal import FoundationEssentials
internal import PushStore
internal import Reactors

/// Where one push goes.
struct PushTarget {
  let device: PushDevice
  /// Whose device it is.
  let user: UUID
}

// One push to one device: the lane that its registration names, and once the other.
extension DeliveryPipeline {
  /// What the app's other environment says about a token that one has called unknown.
  private enum Trial {
    /// The app's credential is not for it.
    case impossible
    /// It cannot be asked now.
    case unresolved(reason: String?)
    /// It has answered.
    case ended(PushAttempt, APNSEnvironment)
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
    trail.note(attempt, of: request, over: lane.route)
    guard attempt.mayBeElsewhere else { return await judge(attempt, to: target, over: lane, on: reactor) }
    guard lane.admits(shutCount) else {
      return tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
        lane.putOff(attempt, now: Reactor.now, draw: jitter.draw())
      }
    }
    lane.beginDoubt(attempt.ledgerReason)
    let trial = await trial(of: request, besides: lane, until: deadline, trail: &trail, on: reactor)
    if lane.endDoubt() { wake(.due, on: reactor) }
    switch trial {
    case .impossible:
      return await judge(attempt, to: target, over: lane, on: reactor)
    case .unresolved(let reason):
      return noteUnresolved(attempt, because: reason ?? attempt.ledgerReason, to: target, over: lane, on: reactor)
    case .ended(let other, let environment):
      trail.isJudgedByFirst = other.refusesEnvironment
      return await combine(attempt, with: other, in: environment, to: target, over: lane, on: reactor)
    }
  }

  /// Asks the other environment with the same request: its identifiers make one push of both.
  private func trial(
    of request: PushRequest, besides lane: Lane, until deadline: UInt64, trail: inout AttemptTrail,
    on reactor: isolated Reactor
  ) async -> Trial {
    // Without a neighbour the app has been removed meanwhile.
    guard let other = lanes.neighbour(of: lane), Reactor.now < deadline else { return .unresolved(reason: nil) }
    switch other.admitTrial(now: Reactor.now) {
    case .impossible: return .impossible
    case .notNow(let reason):
      trail.noteUnasked(other.route, reason: reason)
      return .unresolved(reason: reason)
    case .admitted: break
    }
    let attempt = await channel.send(
      request, over: other.route, until: deadline, permit: other.permit, on: reactor)
    guard attempt != .withdrawn else {
      _ = other.withdraw()
      trail.noteUnasked(other.route, reason: other.fault)
      return .unresolved(reason: other.fault)
    }
    trail.note(attempt, of: request, over: other.route)
    if other.noteTrial(attempt, now: Reactor.now, draw: jitter.draw()) { wake(.due, on: reactor) }
    return .ended(attempt, other.route.environment)
  }

  /// A token that both refuse is judged by the lane of its registration; the later answer is the truer, because it
  /// may know the token as another app's. It is judged without the other only where that will never know it.
  private func combine(
    _ attempt: PushAttempt, with other: PushAttempt, in environment: APNSEnvironment, to target: PushTarget,
    over lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    switch other.finding {
    case .accepted:
      return noteElsewhere(.acceptedElsewhere(environment), over: lane, on: reactor)
    case .dead(let milliseconds):
      return noteElsewhere(
        .dead(reason: other.ledgerReason, sinceMilliseconds: milliseconds), over: lane, on: reactor)
    case .suspect:
      return await judge(other, to: target, over: lane, on: reactor)
    case .refused:
      return noteElsewhere(.refused(reason: other.ledgerReason), over: lane, on: reactor)
    case .throttled(let minimum):
      return noteElsewhere(.postponed(reason: other.ledgerReason, minimum: minimum), over: lane, on: reactor)
    case .fault where other.refusesEnvironment:
      return await judge(attempt, to: target, over: lane, on: reactor)
    case .fault:
      return noteUnresolved(attempt, because: other.ledgerReason, to: target, over: lane, on: reactor)
    }
  }

  /// The lane's word on a push. A token that it believes to be bad without proof is dropped a moment later, if the lane
  /// has not been shut by then.
  private func judge(
    _ attempt: PushAttempt, to target: PushTarget, over lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    let verdict = note(attempt, to: target, over: lane, on: reactor)
    guard case .dead = verdict, attempt.finding == .suspect else { return verdict }
    let shutCount = lane.shutCount
    await reactor.sleep(for: lane.confirmation)
    return lane.confirm(verdict, sinceShut: shutCount)
  }

  private func note(
    _ attempt: PushAttempt, to target: PushTarget, over lane: Lane, on reactor: isolated Reactor
  ) -> DeviceVerdict {
    let verdict = tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
      lane.note(attempt, to: target.device.token, of: target.user, now: Reactor.now, draw: jitter.draw())
    }
    return Self.isSpared(target.device, after: attempt) ? verdict.sparingToken : verdict
  }

  private func noteUnresolved(
    _ attempt: PushAttempt, because reason: String?, to target: PushTarget, over lane: Lane,
    on reactor: isolated Reactor
  ) -> DeviceVerdict {
    tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
      lane.noteUnresolved(attempt, because: reason, of: target.user, now: Reactor.now, draw: jitter.draw())
    }
  }

  /// Wakes what waited for the lane, and tells the other reactors when the end of a push has stopped it.
  private func tellingOthers(
    of lane: Lane, because reason: String?, on reactor: isolated Reactor,
    _ note: () -> (verdict: DeviceVerdict, hasMoreRoom: Bool)
  ) -> DeviceVerdict {
    let wasMisconfigured = lane.isMisconfigured
    let (verdict, hasMoreRoom) = note()
    if hasMoreRoom { wake(.due, on: reactor) }
    if !wasMisconfigured, lane.isMisconfigured {
      observer?.pipelineStopped(lane.route, because: reason, on: reactor)
    }
    return verdict
  }

  /// Whether a refusal proves nothing about a token because of the registration: one that names no app was sent to as the
  /// default app's, and may be that of the default before.
  private static func isSpared(_ device: PushDevice, after attempt: PushAttempt) -> Bool {
    device.app == nil && attempt.reason == "DeviceTokenNotForTopic"
  }

  private func noteElsewhere(
    _ verdict: DeviceVerdict, over lane: Lane, on reactor: isolated Reactor
  ) -> DeviceVerdict {
    if lane.noteElsewhere(now: Reactor.now, draw: jitter.draw()) { wake(.due, on: reactor) }
    return verdict
  }
}
