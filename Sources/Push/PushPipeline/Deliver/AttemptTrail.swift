internal import Channels
internal import PushRules
internal import PushStore
internal import Reactors

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
  mutating func add(_ attempt: DeliveryAttempt, of request: any DeliveryRequest, over route: DeliveryRoute) {
    ends.append(
      End(
        status: attempt.status, reason: attempt.ledgerReason, route: route,
        identifier: request.identifier ?? attempt.identifier, at: Reactor.now))
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
