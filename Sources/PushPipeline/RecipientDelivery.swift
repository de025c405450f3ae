internal import APNS
internal import APNSCore
internal import PushRules
internal import PushStore

/// Folds the answers for one recipient's devices into one outcome. Pure: time and chance come in.
struct RecipientDelivery {
  private let recipient: PushRecipient
  private var accepted: [String]
  private var firstFailure: String?
  private var firstRetry: String?
  private var retryMinimum: Duration?
  private var lanes: Set<String> = []
  private var hasLaneFault = false
  private(set) var acceptedMicroseconds: Int64?
  private(set) var deadTokens: [DeadDeviceToken] = []
  private(set) var pending: Int

  init(of recipient: PushRecipient) {
    self.recipient = recipient
    accepted = recipient.acceptedDevices
    pending = recipient.devices.count
  }

  /// Takes one device's answer.
  /// - Parameters:
  ///   - elapsed: from the claim to now, in microseconds.
  ///   - claimedAt: when the push was claimed, which stands for its sending; microseconds since 1970.
  ///   - lane: where it was sent.
  mutating func note(
    _ attempt: PushAttempt, for device: PushDevice, lane: String, elapsed: Int64, claimedAt: Int64
  ) {
    pending -= 1
    if attempt.isLaneFault { return noteLaneFault(attempt.reason, of: lane) }
    switch attempt.disposition {
    case .accepted:
      accepted.append(device.token)
      if acceptedMicroseconds == nil { acceptedMicroseconds = elapsed }
    case .dropToken(let milliseconds):
      let since = milliseconds.map { $0 * 1000 } ?? claimedAt
      deadTokens.append(DeadDeviceToken(token: device.token, reason: attempt.reason ?? "dead", invalidSince: since))
      noteFailure(attempt.reason)
    case .never, .fixRequest:
      noteFailure(attempt.reason)
    case .fixCredentials, .refreshProviderToken, .reconnect:
      preconditionFailure("\(attempt) is no fault of its lane")
    case .retryLater(let minimum):
      noteRetry(attempt.reason, minimum: minimum)
    }
  }

  /// A device whose push could not even be composed.
  mutating func noteUnsendable(_ reason: String) {
    pending -= 1
    noteFailure(reason)
  }

  /// A device whose lane takes nothing now.
  mutating func noteWaiting(for lane: String, _ reason: String?) {
    pending -= 1
    lanes.insert(lane)
    if firstRetry == nil { firstRetry = reason }
  }

  /// The outcome, once nothing is pending.
  /// - Parameter wait: the wait before the next try of this push, never less than its argument.
  func outcome(wait: (Duration) -> Duration) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: accepted)
    outcome.acceptedMicroseconds = acceptedMicroseconds
    outcome.heldFor = recipient.situation.heldFor
    if let retryMinimum = retryMinimum ?? (lanes.count > 1 ? Self.laneWaitMax : nil) {
      outcome.due = wait(retryMinimum)
      outcome.remaining = .retryable
    } else if let lane = lanes.first {
      outcome.due = hasLaneFault ? min(wait(.zero), Self.laneWaitMax) : .zero
      outcome.remaining = .waiting
      outcome.lane = lane
    }
    if accepted.isEmpty {
      outcome.decision = outcome.remaining == nil ? .failed : .held
      outcome.reason = outcome.remaining == nil ? firstFailure : firstRetry
    }
    return outcome
  }

  /// After a fault of its lane a push steps back for some seconds, so that others probe too; the breaker does the rest.
  private static let laneWaitMax = Duration.seconds(5)

  private mutating func noteLaneFault(_ reason: String?, of lane: String) {
    lanes.insert(lane)
    hasLaneFault = true
    if firstRetry == nil { firstRetry = reason }
  }

  private mutating func noteFailure(_ reason: String?) {
    if firstFailure == nil { firstFailure = reason }
  }

  private mutating func noteRetry(_ reason: String?, minimum: Duration) {
    if firstRetry == nil { firstRetry = reason }
    retryMinimum = max(retryMinimum ?? .zero, minimum)
  }
}
