internal import Channels
internal import PushRules
internal import Reactors

// Deliver: a target that its route calls unknown is tried once over the route where it may be known.
extension DeliveryPipeline {
  /// What the app's other environment says about a token that one has called unknown.
  private enum Trial {
    /// The app's credential is not for it.
    case impossible
    /// It cannot be asked now.
    case unresolved(reason: String?)
    case ended(DeliveryAttempt, DeliveryRoute)
  }

  /// Tries the push in the other environment, and judges both answers.
  /// - Parameters:
  ///   - attempt: the refusal.
  ///   - shutCount: of the lane when the attempt began.
  func tryElsewhere(
    _ request: any DeliveryRequest, after attempt: DeliveryAttempt, to target: OwnedTarget, over lane: Lane,
    sinceShut shutCount: Int, until deadline: UInt64, trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
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
      return concludeUnresolved(attempt, because: reason ?? attempt.ledgerReason, to: target, over: lane, on: reactor)
    case .ended(let other, let route):
      trail.isJudgedByFirst = other.otherEnvironment == .ownsCredential
      return await combine(attempt, with: other, over: route, to: target, for: lane, on: reactor)
    }
  }

  /// Asks the other environment with the same request, so that both share their identifiers.
  private func trial(
    of request: any DeliveryRequest, besides lane: Lane, until deadline: UInt64, trail: inout AttemptTrail,
    on reactor: isolated Reactor
  ) async -> Trial {
    // Without a neighbour, the app has been removed meanwhile.
    guard let deliverer = deliverers[lane.route.channel],
      let other = deliverer.route(besides: lane.route).flatMap({ lanes[$0] }), Reactor.now < deadline
    else { return .unresolved(reason: nil) }
    switch other.admitTrial(now: Reactor.now) {
    case .impossible: return .impossible
    case .notNow(let reason):
      trail.addUnasked(other.route, reason: reason)
      return .unresolved(reason: reason)
    case .admitted: break
    }
    let attempt = await deliverer.send(
      request, over: other.route, until: deadline, permit: other.permit, on: reactor)
    guard !attempt.isWithdrawn else {
      _ = other.withdraw()
      trail.addUnasked(other.route, reason: other.fault)
      return .unresolved(reason: other.fault)
    }
    trail.add(attempt, of: request, over: other.route)
    if other.concludeTrial(attempt, now: Reactor.now, draw: jitter.draw()) { wake(.due, on: reactor) }
    return .ended(attempt, other.route)
  }

  /// The lane of its registration judges a token that both refuse, by the later answer, which may know the token as another
  /// app's. It judges alone only where the other environment never knows the token.
  private func combine(
    _ attempt: DeliveryAttempt, with other: DeliveryAttempt, over route: DeliveryRoute, to target: OwnedTarget,
    for lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    if other.otherEnvironment == .ownsCredential { return await judge(attempt, to: target, over: lane, on: reactor) }
    let reason = other.ledgerReason
    if other.fault != nil {
      return concludeUnresolved(attempt, because: reason, to: target, over: lane, on: reactor)
    }
    let verdict: DeviceVerdict
    switch other.disposition {
    case .suspectToken: return await judge(other, to: target, over: lane, on: reactor)
    case .accepted:
      verdict =
        deliverers[route.channel]?.environment(of: route).map { .acceptedElsewhere(environment: $0) } ?? .accepted
    case .dropToken(let milliseconds): verdict = .dead(reason: reason, sinceMilliseconds: milliseconds)
    case .retryLater(let minimum): verdict = .postponed(reason: reason, minimum: max(minimum, other.askedWait))
    default: verdict = .refused(reason: reason)
    }
    if lane.concludeElsewhere(now: Reactor.now, draw: jitter.draw()) { wake(.due, on: reactor) }
    return verdict
  }

  private func concludeUnresolved(
    _ attempt: DeliveryAttempt, because reason: String?, to target: OwnedTarget, over lane: Lane,
    on reactor: isolated Reactor
  ) -> DeviceVerdict {
    tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
      lane.concludeUnresolved(attempt, because: reason, of: target.user, now: Reactor.now, draw: jitter.draw())
    }
  }
}
