internal import PushRules
internal import PushStore

/// Folds the verdicts on one recipient's devices into one outcome. Pure: times and draws come in.
struct RecipientDelivery {
  private let recipient: PushRecipient
  private var accepted: [String]
  private var firstFailure: String?
  /// Why devices are put off, in the order of their verdicts; each with its mark.
  private var putOff: [(mark: String, reason: String?)] = []
  private var postponed: [PostponedDevice] = []
  private var lanes: Set<String> = []
  private var isShadowed = false
  private var stepBack = DeviceVerdict.StepBack.none
  private var claimedAt: Int64 = 0
  private(set) var acceptedMicroseconds: Int64?
  private(set) var deadTargets: [DeadTarget] = []
  private(set) var learntEnvironments: [LearntEnvironment] = []
  private(set) var pending: Int

  init(of recipient: PushRecipient) {
    self.recipient = recipient
    accepted = recipient.acceptedDevices
    pending = recipient.targets.count
  }

  /// Adds the verdict on the push to one device.
  /// - Parameters:
  ///   - elapsed: from the claim to now, in microseconds.
  ///   - claimedAt: when the push was claimed and the registration read; microseconds since 1970.
  mutating func add(_ verdict: DeviceVerdict, for target: PushTarget, elapsed: Int64, claimedAt: Int64) {
    pending -= 1
    self.claimedAt = claimedAt
    switch verdict {
    case .accepted:
      accept(target, elapsed)
    case .acceptedElsewhere(let environment):
      accept(target, elapsed)
      learntEnvironments.append(
        LearntEnvironment(target: target, environment: environment, readAt: claimedAt))
    case .dead(let reason, let milliseconds):
      deadTargets.append(
        DeadTarget(
          address: target.address, reason: reason ?? "dead", sinceMilliseconds: milliseconds, claimedAt: claimedAt))
      firstFailure = firstFailure ?? reason
    case .refused(let reason):
      firstFailure = firstFailure ?? reason
      postponed.append(PostponedDevice(mark: target.mark, reason: reason, wait: .never))
    case .shadowed:
      isShadowed = true
    case .postponed(let reason, let minimum):
      putOff.append((target.mark, reason))
      postponed.append(PostponedDevice(mark: target.mark, reason: reason, wait: .atLeast(minimum)))
    case .resting(let wait):
      putOff.append((target.mark, wait.reason))
      postponed.append(
        PostponedDevice(mark: target.mark, reason: wait.reason, wait: .until(.microseconds(wait.until - claimedAt))))
    case .waiting(let lane, let reason, let stepBack):
      putOff.append((target.mark, reason))
      lanes.insert(lane)
      self.stepBack = max(self.stepBack, stepBack)
    }
  }

  /// The outcome, once no device is pending. Each device waits for its own time, and the recipient for the first of them. A device
  /// that may not be tried again within the message's life has failed, for the reason that kept the push from being sent.
  func outcome(_ pacing: RetryPacing) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: accepted)
    outcome.acceptedMicroseconds = acceptedMicroseconds
    outcome.heldFor = recipient.situation.heldFor
    outcome.retries = recipient.retries
    outcome.waitsFromMicroseconds = pacing.elapsed.wholeMicroseconds
    let expired = pacing.plan(&outcome, for: recipient, postponed, claimedAt: claimedAt, lanes: lanes, stepBack)
    if accepted.isEmpty, isShadowed {
      outcome.decision = .skipped
      outcome.reason = ShadowedKinds.reason
    } else if accepted.isEmpty {
      let isFinal = outcome.remaining == nil
      outcome.decision = isFinal ? .failed : .held
      let reasons = putOff.filter { isFinal || !expired.contains($0.mark) }.compactMap(\.reason)
      outcome.reason = reasons.first ?? (isFinal ? firstFailure : nil)
    }
    return outcome
  }

  private mutating func accept(_ target: PushTarget, _ elapsed: Int64) {
    accepted.append(target.mark)
    acceptedMicroseconds = acceptedMicroseconds ?? elapsed
  }
}

/// A device that is not tried again before its own time.
struct PostponedDevice {
  /// When: after what its answer has asked for at the least, or as an earlier answer has said, counted from the claim. Never for a push
  /// that was refused.
  enum Wait {
    case atLeast(Duration)
    case until(Duration)
    case never
  }

  let mark: String
  let reason: String?
  let wait: Wait
}

/// What becomes of a push to one device.
enum DeviceVerdict: Equatable, Sendable {
  /// Whether a push that waits for its lane steps back first, so that others probe it too.
  enum StepBack: Comparable, Sendable {
    /// It was not tried: due as soon as the lane is back.
    case none
    /// For some seconds: any push may probe.
    case brief
    /// For longer from time to time: this push may be the wrong one to probe with.
    case long
  }

  case accepted
  /// The service took it in an environment that the target's registration does not name.
  case acceptedElsewhere(environment: String)
  /// The target is dropped, unless it was registered after this moment in milliseconds since 1970; after the claim without
  /// one.
  case dead(reason: String?, sinceMilliseconds: Int64?)
  case refused(reason: String?)
  /// It is tried again on its own, after this time at the least.
  case postponed(reason: String?, minimum: Duration)
  /// It was not tried, because the wait that an earlier answer has asked for is not over.
  case resting(DeviceWait)
  /// It would have been sent over this lane, and its kind is not sent.
  case shadowed(lane: String, identifier: String?)
  case waiting(lane: String, reason: String?, StepBack)

  /// The same, except that a target is kept instead of dropped.
  var sparingTarget: DeviceVerdict {
    if case .dead(let reason, _) = self { .refused(reason: reason) } else { self }
  }
}
