internal import Channels
internal import FoundationEssentials
internal import Logging
internal import PushRules
internal import PushStore
internal import Reactors

/// Where one push goes, and whose it is.
struct OwnedTarget {
  let target: PushTarget
  let user: HostID
}

/// Deliver: sends single pushes over the lanes of their routes, and judges how they end. Knows nothing of events.
final class LaneSender {
  let deliverers: [DeliveryChannel: any PushDeliverer]
  private(set) var lanes: Lanes
  /// Looks for pushes that waited for a route when they may go.
  weak var pipeline: DeliveryPipeline?

  private let metrics: PipelineMetrics
  private var jitter = Jitter()

  init(
    _ deliverers: [any PushDeliverer], _ configuration: LaneConfiguration, metrics: PipelineMetrics, logger: Logger
  ) {
    self.deliverers = Dictionary(uniqueKeysWithValues: deliverers.map { ($0.channel, $0) })
    self.metrics = metrics
    lanes = Lanes(configuration, logger: logger)
    lanes.update(deliverers)
  }

  /// A random number in `0 ..< 1`.
  func draw() -> Double { jitter.draw() }

  /// Takes the routes that the deliverers have now.
  func followRoutes(renewed: Set<DeliveryRoute>) { lanes.update(deliverers.values, renewed: renewed) }

  /// Sends a push and judges its end.
  /// - Parameter deadline: of both environments together.
  func verdict<Deliverer: PushDeliverer>(
    on request: Deliverer.Request, through deliverer: Deliverer, to target: OwnedTarget, over lane: Lane,
    until deadline: UInt64, trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    let shutCount = lane.shutCount
    let attempt = await deliverer.send(
      request, over: lane.route, until: deadline, permit: lane.permit, on: reactor)
    if attempt.isWithdrawn { return lane.withdraw() }
    trail.add(attempt, identifiedBy: deliverer.identifier(of: request), over: lane.route)
    if lane.route.channel != .apns { metrics.count(attempt, over: lane.route) }
    guard attempt.otherEnvironment == .mayKnowTarget else {
      return await judge(attempt, to: target, over: lane, on: reactor)
    }
    return await tryElsewhere(
      request, through: deliverer, after: attempt, to: target, over: lane, sinceShut: shutCount, until: deadline,
      trail: &trail, on: reactor)
  }

  /// The lane's verdict. A token that it takes for bad without proof is dropped a moment later, unless the lane has shut by
  /// then.
  private func judge(
    _ attempt: DeliveryAttempt, to target: OwnedTarget, over lane: Lane, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    var verdict = wakingWaiting(
      lane.conclude(attempt, to: target.target.mark, of: target.user, now: Reactor.now, draw: jitter.draw()),
      on: reactor)
    if attempt.sparesTarget { verdict = verdict.sparingTarget }
    guard case .dead = verdict, attempt.disposition == .suspectToken else { return verdict }
    let shutCount = lane.shutCount
    await reactor.sleep(for: lane.confirmation)
    return lane.confirm(verdict, sinceShut: shutCount)
  }

  /// A push has ended; what waited for its lane is woken.
  private func wakingWaiting(
    _ end: (verdict: DeviceVerdict, hasMoreRoom: Bool), on reactor: isolated Reactor
  ) -> DeviceVerdict {
    if end.hasMoreRoom { pipeline?.wake(.due, on: reactor) }
    return end.verdict
  }
}

// Deliver: a target that its route calls unknown is tried once over the route where it may be known.
extension LaneSender {
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
  private func tryElsewhere<Deliverer: PushDeliverer>(
    _ request: Deliverer.Request, through deliverer: Deliverer, after attempt: DeliveryAttempt, to target: OwnedTarget,
    over lane: Lane, sinceShut shutCount: Int, until deadline: UInt64, trail: inout AttemptTrail,
    on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    guard lane.admits(shutCount) else {
      return wakingWaiting(lane.putOff(attempt, now: Reactor.now, draw: jitter.draw()), on: reactor)
    }
    lane.beginDoubt(attempt.ledgerReason)
    let trial = await trial(of: request, through: deliverer, besides: lane, until: deadline, trail: &trail, on: reactor)
    if lane.endDoubt() { pipeline?.wake(.due, on: reactor) }
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
  private func trial<Deliverer: PushDeliverer>(
    of request: Deliverer.Request, through deliverer: Deliverer, besides lane: Lane, until deadline: UInt64,
    trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> Trial {
    // Without a neighbour, the app has been removed meanwhile.
    guard let other = deliverer.route(besides: lane.route).flatMap({ lanes[$0] }), Reactor.now < deadline else {
      return .unresolved(reason: nil)
    }
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
    trail.add(attempt, identifiedBy: deliverer.identifier(of: request), over: other.route)
    if other.concludeTrial(attempt, now: Reactor.now, draw: jitter.draw()) { pipeline?.wake(.due, on: reactor) }
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
    if lane.concludeElsewhere(now: Reactor.now, draw: jitter.draw()) { pipeline?.wake(.due, on: reactor) }
    return verdict
  }

  private func concludeUnresolved(
    _ attempt: DeliveryAttempt, because reason: String?, to target: OwnedTarget, over lane: Lane,
    on reactor: isolated Reactor
  ) -> DeviceVerdict {
    wakingWaiting(
      lane.concludeUnresolved(attempt, because: reason, of: target.user, now: Reactor.now, draw: jitter.draw()),
      on: reactor)
  }
}
