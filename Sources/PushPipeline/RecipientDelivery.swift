internal import APNS
internal import APNSCore
internal import PushStore

/// Folds the answers for one recipient's devices into one outcome. Pure: time and chance come in.
struct RecipientDelivery {
  private let recipient: PushRecipient
  private var accepted: [String]
  private var firstFailure: String?
  private var firstRetry: String?
  private var retryMinimum: Duration?
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
  mutating func note(_ attempt: PushAttempt, for device: PushDevice, elapsed: Int64, claimedAt: Int64) {
    pending -= 1
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
    case .fixCredentials:
      noteRetry(attempt.reason, minimum: RecipientDelivery.credentialsWait)
    case .refreshProviderToken, .reconnect:
      noteRetry(attempt.reason, minimum: .zero)
    case .retryLater(let minimum):
      noteRetry(attempt.reason, minimum: minimum)
    }
  }

  /// A device whose push could not even be composed.
  mutating func noteUnsendable(_ reason: String) {
    pending -= 1
    noteFailure(reason)
  }

  /// The outcome, once nothing is pending.
  func outcome(wait: (Duration) -> Duration) -> RecipientOutcome {
    var outcome = RecipientOutcome(userID: recipient.userID, decision: .sent, acceptedDevices: accepted)
    outcome.acceptedMicroseconds = acceptedMicroseconds
    if let retryMinimum {
      outcome.due = wait(retryMinimum)
      outcome.remaining = .retryable
    }
    if accepted.isEmpty {
      outcome.decision = retryMinimum == nil ? .failed : .held
      outcome.reason = retryMinimum == nil ? firstFailure : firstRetry
    }
    return outcome
  }

  /// A wrong key or topic is mended by a person; a look once a minute notices that soon enough.
  private static let credentialsWait = Duration.seconds(60)

  private mutating func noteFailure(_ reason: String?) {
    if firstFailure == nil { firstFailure = reason }
  }

  private mutating func noteRetry(_ reason: String?, minimum: Duration) {
    if firstRetry == nil { firstRetry = reason }
    retryMinimum = max(retryMinimum ?? .zero, minimum)
  }
}
