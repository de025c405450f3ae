internal import Channels
internal import FoundationEssentials
internal import PushRules
internal import PushStore
internal import Reactors

/// Deliver: gives each device of a recipient its push, over the lane that its registration names, and tells the event how it ended.
final class EventSender {
  /// What Tacet itself says, such as "+4 more".
  let words: KnownWords
  /// Pushes whose end has not come.
  private(set) var inFlight = 0
  weak var pipeline: DeliveryPipeline?

  private let lanes: LaneSender
  /// What operators let pushes say.
  private let content: ContentPolicy
  private let retry: RetryPolicy
  private let pushLimit: Duration
  private let timeToLive: Duration
  private let shadow: ShadowedKinds

  init(over lanes: LaneSender, words: KnownWords, _ configuration: PipelineConfiguration) {
    self.lanes = lanes
    self.words = words
    content = configuration.content
    retry = configuration.retry
    pushLimit = configuration.pushLimit
    timeToLive = configuration.policy.timeToLive
    shadow = configuration.shadow
  }

  /// Gives every device of a recipient its push.
  /// - Parameter pushes: what the event says; nil for nothing that can be sent.
  func deliver(
    _ pushes: EventPushes?, to index: Int, of progress: EventProgress, fold: HistoryEntry.Fold? = nil,
    on reactor: isolated Reactor
  ) {
    progress.begin(index, fold: fold)
    let recipient = progress.event.recipients[index]
    for target in recipient.targets {
      let device = PendingDevice(progress: progress, index: index, target: target)
      if let wait = recipient.deviceWaits[target.mark], wait.until > progress.event.claimedAt {
        turnAway(device, .resting(wait), on: reactor)
        continue
      }
      do throws(PushRequestError) {
        guard let pushes else { throw PushRequestError(.payloadEmpty, "there is nothing to say") }
        guard let deliverer = lanes.deliverers[target.channel] else {
          turnAway(device, .refused(reason: Lanes.isNotSetUp), on: reactor)
          continue
        }
        try deliver(pushes, through: deliverer, to: device, on: reactor)
      } catch {
        turnAway(device, .refused(reason: error.code.rawValue), on: reactor)
      }
    }
  }

  private func deliver(
    _ pushes: EventPushes, through deliverer: some PushDeliverer, to device: PendingDevice, on reactor: isolated Reactor
  ) throws(PushRequestError) {
    let (event, target) = (device.progress.event, device.target)
    let route = try deliverer.route(to: target)
    let (composed, locale) = pushes.push(for: target)
    let push = try device.progress.form(of: composed, for: target, by: content, words.current(on: reactor))
    let addressee = event.addressee(of: push, target, of: device.recipient, timeToLive: timeToLive)
    let request = try deliverer.request(for: push, to: addressee, over: route)
    if shadow.covers(event.subject.kind) {
      turnAway(device, shadow(identifiedBy: deliverer.identifier(of: request), over: route), on: reactor)
    } else {
      send(
        request, AttemptTrail(locale: locale, push.note), through: deliverer, to: device, over: route, on: reactor)
    }
  }

  /// What a push comes to that is not sent: its service would have had it now. Breakers, quarantines and limits of a route know
  /// nothing, because no push of the kind takes it. Nothing waits either for a route that an operator may configure later.
  private func shadow(identifiedBy identifier: String?, over route: DeliveryRoute) -> DeviceVerdict {
    guard lanes.lanes[route] != nil else { return .refused(reason: Lanes.isNotConfigured) }
    return .shadowed(lane: route.name, identifier: identifier)
  }

  private func turnAway(_ device: PendingDevice, _ verdict: DeviceVerdict, on reactor: isolated Reactor) {
    device.progress.add(verdict, for: device.target, of: device.index)
    finishIfComplete(device, on: reactor)
  }

  private func send<Deliverer: PushDeliverer>(
    _ request: Deliverer.Request, _ trail: AttemptTrail, through deliverer: Deliverer, to device: PendingDevice,
    over route: DeliveryRoute, on reactor: isolated Reactor
  ) {
    switch lanes.lanes.admit(device.target.mark, to: route) {
    case .turnedAway(let verdict): turnAway(device, verdict, on: reactor)
    case .admitted(let lane):
      inFlight += 1
      reactor.start {
        let (progress, target) = (device.progress, device.target)
        let deadline = progress.claimedAt &+ self.pushLimit.clampedNanoseconds
        var trail = trail
        var verdict = await self.lanes.verdict(
          on: request, through: deliverer, to: device.owned, over: lane, until: deadline, trail: &trail, on: reactor)
        var tries = 0
        while let wait = self.earlyRetry(after: verdict, tries, of: device, until: deadline) {
          tries += 1
          progress.note(trail, verdict, for: target, of: device.index)
          trail.forgetEnds()
          await reactor.sleep(for: wait)
          switch self.lanes.lanes.admit(target.mark, to: route) {
          case .turnedAway(let other): verdict = other
          case .admitted(let lane):
            verdict = await self.lanes.verdict(
              on: request, through: deliverer, to: device.owned, over: lane, until: deadline, trail: &trail,
              on: reactor)
          }
        }
        self.inFlight -= 1
        progress.add(verdict, for: target, of: device.index, after: trail)
        self.finishIfComplete(device, on: reactor)
        self.pipeline?.recordIfDecided(progress, on: reactor)
      }
    }
  }

  /// The wait of a device that is tried again within its claim; nil for the end of its tries.
  ///
  /// An event is recorded when its last device has reported. While one of them is silent, the others do not wait for it.
  private func earlyRetry(
    after verdict: DeviceVerdict, _ tries: Int, of device: PendingDevice, until deadline: UInt64
  ) -> Duration? {
    guard case .postponed(_, let minimum) = verdict, device.progress.pendingDevices > 1 else { return nil }
    let wait = retry.wait(
      afterRetries: device.recipient.retries + tries, minimum: minimum, draw: lanes.draw())
    return Reactor.now &+ (wait + Self.leastTry).clampedNanoseconds < deadline ? wait : nil
  }

  /// Less time is not worth a try: APNs answers within some tens of milliseconds, over a new connection in some hundreds.
  private static let leastTry = Duration.seconds(1)

  private func finishIfComplete(_ device: PendingDevice, on reactor: isolated Reactor) {
    let isShown = device.progress.finishIfComplete(
      device.index,
      pacing: RetryPacing(
        policy: retry, attempts: device.progress.event.attempts,
        timeToLive: device.recipient.situation.life ?? timeToLive,
        elapsed: device.progress.elapsedSinceAsked, draw: lanes.draw()))
    if let isShown { pipeline?.pushEnded(device.index, of: device.progress, isShown: isShown, on: reactor) }
  }
}

/// A device of one of an event's recipients, which has not reported.
private struct PendingDevice {
  let progress: EventProgress
  /// The recipient's place in the event.
  let index: Int
  let target: PushTarget

  var recipient: PushRecipient { progress.event.recipients[index] }

  var owned: OwnedTarget { OwnedTarget(target: target, user: recipient.userID) }
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
