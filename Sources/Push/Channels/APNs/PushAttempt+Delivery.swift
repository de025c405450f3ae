package import PushRules

// What the end of an attempt shows of its route, its environment and its reason.
extension DeliveryAttempt {
  package init(_ attempt: PushAttempt) {
    self.init(attempt.disposition, status: attempt.status, reason: attempt.keptReason, fault: attempt.faultCause)
    askedWait = attempt.askedWait
    isWithdrawn = attempt == .withdrawn
    if attempt.disposition == .suspectToken && attempt.reason == "BadDeviceToken" { otherEnvironment = .mayKnowTarget }
    if attempt.refusesEnvironment { otherEnvironment = .ownsCredential }
  }
}

extension PushAttempt {
  /// Where the route's fault lies; nil when it concerns the push or its device alone.
  fileprivate var faultCause: DeliveryFault? {
    switch disposition {
    case .accepted, .dropToken, .suspectToken, .never, .fixRequest: return nil
    // The client has already made a new token if one could help: what remains is a clock or a key.
    case .fixCredentials, .refreshProviderToken: return .configuration
    case .reconnect: return .connection
    case .retryLater:
      guard case .answered(let answer) = self else { return .connection }
      if answer.reason == "TooManyProviderTokenUpdates" { return .throttle }
      return answer.status == 429 ? nil : .service
    }
  }

  /// Whether APNs refuses the credential because it is not for this environment. Other refusals of a credential sometimes hit
  /// a valid one.
  fileprivate var refusesEnvironment: Bool {
    faultCause == .configuration && reason.map(Self.environmentRefusals.contains) == true
  }

  private static let environmentRefusals: Set = [
    "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
  ]

  /// The reason. An empty one counts as a missing one.
  fileprivate var keptReason: String? {
    if case .answered(let answer) = self, answer.reason?.rawValue == "" { return "http_\(answer.status)" }
    return reason
  }

  fileprivate var askedWait: Duration {
    guard case .answered(let answer) = self else { return .zero }
    return answer.retryAfter ?? .zero
  }
}
