internal import APNSCore
internal import PushRules
internal import PushStore

/// Folds the verdicts on one recipient's devices into one outcome. Pure: time and chance come in.
struct RecipientDelivery {
  private let recipient: PushRecipient
  private var accepted: [String]
  private var firstFailure: String?
  private var firstRetry: String?
  private var retryMinimum: Duration?
  private var lanes: Set<String> = []
  private var stepBack = DeviceVerdict.StepBack.none
  private(set) var acceptedMicroseconds: Int64?
  private(set) var deadTokens: [DeadDeviceToken] = []
  private(set) var learntEnvironments: [LearntEnvironment] = []
  private(set) var pending: Int

  init(of recipient: PushRecipient) {
    self.recipient = recipient
    accepted = recipient.acceptedDevices
    pending = recipient.devices.count
  }

  /// Takes what became of the push to one device.
  /// - Parameters:
  ///   - elapsed: from the claim to now, in microseconds.
  ///   - claimedAt: when the push was claimed and the registration read; microseconds since 1970.
  mutating func note(_ verdict: DeviceVerdict, for device: PushDevice, elapsed: Int64, claimedAt: Int64) {
    pending -= 1
    switch verdict {
    case .accepted:
      noteAcceptance(by: device, elapsed)
    case .acceptedElsewhere(let environment):
      noteAcceptance(by: device, elapsed)
      learntEnvironments.append(
        LearntEnvironment(device: device, environment: environment.rawValue, readAt: claimedAt))
    case .dead(let reason, let milliseconds):
      deadTokens.append(
        DeadDeviceToken(
          token: device.token, reason: reason ?? "dead",
          invalidSince: Self.microseconds(milliseconds, claimedAt: claimedAt)))
      noteFailure(reason)
    case .refused(let reason):
      noteFailure(reason)
    case .postponed(let reason, let minimum):
      noteRetry(reason, minimum: minimum)
    case .waiting(let lane, let reason, let stepBack):
      noteWaiting(for: lane, reason, stepBack)
    }
  }

  /// The outcome, once nothing is pending. What would be tried again after the message's life has failed by now, and its
  /// reason is what kept it from being sent.
  func outcome(_ pacing: RetryPacing) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: accepted)
    outcome.acceptedMicroseconds = acceptedMicroseconds
    outcome.heldFor = recipient.situation.heldFor
    outcome.retries = recipient.retries
    outcome.waitsFromMicroseconds = pacing.elapsed.wholeMicroseconds
    plan(&outcome, pacing)
    if accepted.isEmpty {
      let isFinal = outcome.remaining == nil
      outcome.decision = isFinal ? .failed : .held
      outcome.reason = isFinal ? firstRetry ?? firstFailure : firstRetry
    }
    return outcome
  }

  /// What remains, and when it is due. A push that waits for two lanes, or for a lane and a time of its own, waits for no
  /// lane: it is one row, and is tried again. A time that comes too late leaves the lanes.
  private func plan(_ outcome: inout RecipientOutcome, _ pacing: RetryPacing) {
    let life = pacing.life(of: recipient.situation)
    if let wait = retryMinimum.map({ pacing.wait(afterRetries: recipient.retries, minimum: $0) }), wait <= life {
      outcome.due = wait
      outcome.remaining = .retryable
      outcome.retries += 1
    } else if let lane = lanes.first {
      let isAlone = lanes.count == 1
      let wait = isAlone ? pacing.laneWait(stepBack) : pacing.lanesWait(within: life)
      guard wait <= life else { return }
      outcome.due = wait
      outcome.remaining = isAlone ? .waiting : .retryable
      outcome.lane = isAlone ? lane : nil
    }
  }

  /// A moment in milliseconds that came from outside, as one of the database's: not before 1970, and not after the
  /// registration was read, because what was registered since has not been sent to.
  private static func microseconds(_ milliseconds: Int64?, claimedAt: Int64) -> Int64 {
    guard let milliseconds else { return claimedAt }
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (milliseconds < 0 ? 0 : claimedAt) : max(0, min(product, claimedAt))
  }

  private mutating func noteAcceptance(by device: PushDevice, _ elapsed: Int64) {
    accepted.append(device.token)
    if acceptedMicroseconds == nil { acceptedMicroseconds = elapsed }
  }

  private mutating func noteFailure(_ reason: String?) {
    if firstFailure == nil { firstFailure = reason }
  }

  private mutating func noteRetry(_ reason: String?, minimum: Duration) {
    if firstRetry == nil { firstRetry = reason }
    retryMinimum = max(retryMinimum ?? .zero, minimum)
  }

  private mutating func noteWaiting(for lane: String, _ reason: String?, _ stepBack: DeviceVerdict.StepBack) {
    if firstRetry == nil { firstRetry = reason }
    lanes.insert(lane)
    self.stepBack = max(self.stepBack, stepBack)
  }
}
