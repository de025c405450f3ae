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
        try deliver(push, through: deliverer, to: target, of: index, in: progress, on: reactor)
      } catch {
        turnAway(target, of: index, in: progress, .refused(reason: error.code.rawValue))
      }
    }
  }

  private func deliver(
    _ push: ComposedPush, through deliverer: some PushDeliverer, to target: PushTarget, of index: Int,
    in progress: EventProgress, on reactor: isolated Reactor
  ) throws(PushRequestError) {
    let event = progress.event
    let route = try deliverer.route(to: target)
    let (composed, locale) = push.push(for: target)
    let form = try progress.form(of: composed, for: target, by: content, words.current(on: reactor))
    let request = try deliverer.request(
      for: event.push(
        form, to: target, of: event.recipients[index], timeToLive: configuration.policy.timeToLive),
      over: route)
    if configuration.shadow.covers(event.subject.kind) {
      turnAway(
        target, of: index, in: progress, shadow(identifiedBy: deliverer.identifier(of: request), over: route))
    } else {
      let trail = AttemptTrail(locale: locale, form.note)
      send(request, trail, through: deliverer, to: target, over: route, of: index, in: progress, on: reactor)
    }
  }

  /// What a push comes to that is not sent: its service would have had it now. Breakers, quarantines and limits of a route know
  /// nothing, because no push of the kind takes it. Nothing waits either for a route that an operator may configure later.
  private func shadow(identifiedBy identifier: String?, over route: DeliveryRoute) -> DeviceVerdict {
    guard lanes[route] != nil else { return .refused(reason: Lanes.isNotConfigured) }
    return .shadowed(lane: route.name, identifier: identifier)
  }

  private func turnAway(_ target: PushTarget, of index: Int, in progress: EventProgress, _ verdict: DeviceVerdict) {
    progress.add(verdict, for: target, of: index)
    finishIfComplete(index, of: progress)
  }

  private func send<Deliverer: PushDeliverer>(
    _ request: Deliverer.Request, _ trail: AttemptTrail, through deliverer: Deliverer, to target: PushTarget,
    over route: DeliveryRoute, of index: Int, in progress: EventProgress, on reactor: isolated Reactor
  ) {
    switch lanes.admit(target.mark, to: route) {
    case .turnedAway(let verdict): turnAway(target, of: index, in: progress, verdict)
    case .admitted(let lane):
      room.pushes += 1
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
        self.room.pushes -= 1
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
      trail: &trail,
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
  private func tryElsewhere<Deliverer: PushDeliverer>(
    _ request: Deliverer.Request, through deliverer: Deliverer, after attempt: DeliveryAttempt, to target: OwnedTarget,
    over lane: Lane,
    sinceShut shutCount: Int, until deadline: UInt64, trail: inout AttemptTrail, on reactor: isolated Reactor
  ) async -> DeviceVerdict {
    guard lane.admits(shutCount) else {
      return tellingOthers(of: lane, because: attempt.ledgerReason, on: reactor) {
        lane.putOff(attempt, now: Reactor.now, draw: jitter.draw())
      }
    }
    lane.beginDoubt(attempt.ledgerReason)
    let trial = await trial(of: request, through: deliverer, besides: lane, until: deadline, trail: &trail, on: reactor)
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

/// The attempts to send one push to one device, for the history: one, or two when the other environment was asked too.
struct AttemptTrail {
  private struct End {
    /// The service's status; nil without an answer, and for a route that could not be asked.
    let status: Int?
    let reason: String?
    let route: DeliveryRoute
    let identifier: String?
    let at: UInt64
  }

  private var ends: [End] = []

  /// The locale of the words; nil for those of the event itself.
  private let locale: LocaleChoice?

  /// What was kept back of the push; nil for nothing.
  private let note: ContentNote?

  init(locale: LocaleChoice? = nil, _ note: ContentNote? = nil) {
    self.locale = locale
    self.note = note
  }

  /// Whether the first answer counts, because the second said nothing about the device.
  var isJudgedByFirst = false

  /// Adds an attempt that has ended now.
  mutating func add(_ attempt: DeliveryAttempt, identifiedBy identifier: String?, over route: DeliveryRoute) {
    ends.append(
      End(
        status: attempt.status, reason: attempt.ledgerReason, route: route,
        identifier: identifier ?? attempt.identifier, at: Reactor.now))
  }

  /// Begins anew for the next try.
  mutating func forgetEnds() {
    ends = []
    isJudgedByFirst = false
  }

  mutating func addUnasked(_ route: DeliveryRoute, reason: String?) {
    ends.append(End(status: nil, reason: reason, route: route, identifier: nil, at: Reactor.now))
  }

  /// The attempts, one of which brought the verdict; without an attempt, the verdict alone.
  /// - Parameters:
  ///   - now: microseconds from the claim to the verdict. claimedAt: monotonic nanoseconds.
  func history(
    of target: PushTarget, _ verdict: DeviceVerdict, now: Int64, claimedAt: UInt64
  ) -> [HistoryEntry.Attempt] {
    if case .resting = verdict { return [] }
    guard !ends.isEmpty else {
      return [
        HistoryEntry.Attempt(
          mark: target.mark, route: verdict.lane, endedMicroseconds: now, reason: verdict.reason,
          identifier: verdict.identifier, verdict: verdict.word)
      ]
    }
    let judged = isJudgedByFirst ? 0 : ends.count - 1
    return ends.enumerated().map { index, end in
      HistoryEntry.Attempt(
        mark: target.mark, route: end.route.name,
        endedMicroseconds: Int64(end.at &- claimedAt) / 1000, status: end.status, reason: end.reason,
        identifier: end.identifier, content: note?.rawValue,
        verdict: index == judged ? verdict.word : index < judged ? "elsewhere" : "impossible",
        locale: locale?.shown.text, askedLocale: locale?.askedText)
    }
  }
}

extension LocaleChoice {
  /// Nil where the words are in the device's own locale.
  fileprivate var askedText: String? { asked == shown ? nil : asked.text }
}

extension DeviceVerdict {
  /// The name in the history.
  fileprivate var word: String {
    switch self {
    case .accepted, .acceptedElsewhere: "accepted"
    case .dead: "dropped"
    case .refused: "refused"
    case .postponed, .resting: "postponed"
    case .shadowed: ShadowedKinds.reason
    case .waiting: "waiting"
    }
  }

  fileprivate var lane: String? {
    switch self {
    case .waiting(let lane, _, _), .shadowed(let lane, _): lane
    default: nil
    }
  }

  /// What the push would have been called at the service.
  fileprivate var identifier: String? {
    guard case .shadowed(_, let identifier) = self else { return nil }
    return identifier
  }

  fileprivate var reason: String? {
    switch self {
    case .accepted, .acceptedElsewhere, .shadowed: nil
    case .dead(let reason, _), .refused(let reason), .postponed(let reason, _), .waiting(_, let reason, _): reason
    case .resting(let wait): wait.reason
    }
  }
}
