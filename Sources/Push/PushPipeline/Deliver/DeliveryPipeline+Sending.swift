internal import Channels
internal import FoundationEssentials
internal import PushRules
internal import PushStore
internal import Reactors

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
        guard let deliverer = sender.deliverers[target.channel] else {
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
    guard sender.lanes[route] != nil else { return .refused(reason: Lanes.isNotConfigured) }
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
    switch sender.lanes.admit(target.mark, to: route) {
    case .turnedAway(let verdict): turnAway(target, of: index, in: progress, verdict)
    case .admitted(let lane):
      room.pushes += 1
      let owned = OwnedTarget(target: target, user: progress.event.recipients[index].userID)
      reactor.start {
        let deadline = progress.claimedAt &+ self.configuration.pushLimit.clampedNanoseconds
        var trail = trail
        var verdict = await self.sender.verdict(
          on: request, through: deliverer, to: owned, over: lane, until: deadline, trail: &trail, on: reactor)
        var tries = 0
        while let wait = self.earlyRetry(after: verdict, tries, of: index, in: progress, until: deadline) {
          tries += 1
          progress.note(trail, verdict, for: target, of: index)
          trail.forgetEnds()
          await reactor.sleep(for: wait)
          switch self.sender.lanes.admit(target.mark, to: route) {
          case .turnedAway(let other): verdict = other
          case .admitted(let lane):
            verdict = await self.sender.verdict(
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
      afterRetries: progress.event.recipients[index].retries + tries, minimum: minimum, draw: sender.draw())
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
        elapsed: progress.elapsedSinceAsked, draw: sender.draw()))
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
