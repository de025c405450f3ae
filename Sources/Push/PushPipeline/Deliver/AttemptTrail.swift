internal import APNS
internal import APNSCore
internal import PushStore
internal import Reactors

/// What was tried to bring one push to one device, for the history: one attempt, or two when the other environment was
/// asked as well.
struct AttemptTrail {
  private struct End {
    /// Nil when the route could not be asked.
    let attempt: PushAttempt?
    let reason: String?
    let route: PushRoute
    let apnsID: String?
    let at: UInt64
  }

  private var ends: [End] = []

  /// Whether the first answer is the one that counts, because the second said nothing about the device.
  var isJudgedByFirst = false

  /// An attempt has ended now.
  mutating func note(_ attempt: PushAttempt, of request: PushRequest, over route: PushRoute) {
    ends.append(
      End(
        attempt: attempt, reason: attempt.ledgerReason, route: route, apnsID: request.head.identifier.text,
        at: Reactor.now))
  }

  /// The other environment could not be asked.
  mutating func noteUnasked(_ route: PushRoute, reason: String?) {
    ends.append(End(attempt: nil, reason: reason, route: route, apnsID: nil, at: Reactor.now))
  }

  /// The attempts, one of which brought the verdict; without any, the verdict alone.
  /// - Parameters:
  ///   - now: microseconds from the claim to the verdict. claimedAt: monotonic nanoseconds.
  func history(
    of device: PushDevice, _ verdict: DeviceVerdict, now: Int64, claimedAt: UInt64
  ) -> [HistoryEntry.Attempt] {
    guard !ends.isEmpty else {
      return [
        HistoryEntry.Attempt(
          deviceToken: device.token, route: verdict.lane, endedMicroseconds: now, reason: verdict.reason,
          verdict: verdict.word)
      ]
    }
    let judged = isJudgedByFirst ? 0 : ends.count - 1
    return ends.enumerated().map { index, end in
      HistoryEntry.Attempt(
        deviceToken: device.token, route: end.route.name,
        endedMicroseconds: Int64(end.at &- claimedAt) / 1000, status: end.attempt?.status, reason: end.reason,
        apnsID: end.apnsID, verdict: index == judged ? verdict.word : index < judged ? "elsewhere" : "impossible")
    }
  }
}

extension PushAttempt {
  /// The status that APNs answered with.
  fileprivate var status: Int? {
    guard case .answered(let answer) = self else { return nil }
    return answer.status
  }
}

extension DeviceVerdict {
  /// As the history names it.
  fileprivate var word: String {
    switch self {
    case .accepted, .acceptedElsewhere: "accepted"
    case .dead: "dropped"
    case .refused: "refused"
    case .postponed: "postponed"
    case .waiting: "waiting"
    }
  }

  fileprivate var lane: String? {
    guard case .waiting(let lane, _, _) = self else { return nil }
    return lane
  }

  fileprivate var reason: String? {
    switch self {
    case .accepted, .acceptedElsewhere: nil
    case .dead(let reason, _), .refused(let reason), .postponed(let reason, _), .waiting(_, let reason, _): reason
    }
  }
}
