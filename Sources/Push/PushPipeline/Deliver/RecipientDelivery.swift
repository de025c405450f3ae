internal import APNSCore
internal import PushRules
internal import PushStore

/// Folds the verdicts on one recipient's devices into one outcome. Pure: times and draws come in.
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

  /// Adds the verdict on the push to one device.
  /// - Parameters:
  ///   - elapsed: from the claim to now, in microseconds.
  ///   - claimedAt: when the push was claimed and the registration read; microseconds since 1970.
  mutating func add(_ verdict: DeviceVerdict, for device: PushDevice, elapsed: Int64, claimedAt: Int64) {
    pending -= 1
    switch verdict {
    case .accepted:
      accept(device, elapsed)
    case .acceptedElsewhere(let environment):
      accept(device, elapsed)
      learntEnvironments.append(
        LearntEnvironment(device: device, environment: environment.rawValue, readAt: claimedAt))
    case .dead(let reason, let milliseconds):
      deadTokens.append(
        DeadDeviceToken(
          token: device.token, reason: reason ?? "dead",
          invalidSince: Self.microseconds(milliseconds, claimedAt: claimedAt)))
      firstFailure = firstFailure ?? reason
    case .refused(let reason):
      firstFailure = firstFailure ?? reason
    case .postponed(let reason, let minimum):
      firstRetry = firstRetry ?? reason
      retryMinimum = max(retryMinimum ?? .zero, minimum)
    case .waiting(let lane, let reason, let stepBack):
      firstRetry = firstRetry ?? reason
      lanes.insert(lane)
      self.stepBack = max(self.stepBack, stepBack)
    }
  }

  /// The outcome, once no device is pending. A retry after the end of the message's life is a failure now, for the reason that
  /// kept the push from being sent.
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

  /// What remains, and when it is due. A push is one row: waiting for two lanes, or for a lane and a time, makes it a retry. A
  /// time beyond the message's life leaves the lanes.
  private func plan(_ outcome: inout RecipientOutcome, _ pacing: RetryPacing) {
    let life = pacing.life(of: recipient.situation)
    let wait = retryMinimum.map {
      pacing.policy.wait(afterRetries: recipient.retries, minimum: $0, draw: pacing.draw)
    }
    if let wait, wait <= life {
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

  /// APNs' moment in milliseconds as one of the database's: not before 1970, and not after the registration was read, because
  /// later registrations were not sent to.
  private static func microseconds(_ milliseconds: Int64?, claimedAt: Int64) -> Int64 {
    guard let milliseconds else { return claimedAt }
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? (milliseconds < 0 ? 0 : claimedAt) : max(0, min(product, claimedAt))
  }

  private mutating func accept(_ device: PushDevice, _ elapsed: Int64) {
    accepted.append(device.token)
    acceptedMicroseconds = acceptedMicroseconds ?? elapsed
  }
}
