internal import APNS
internal import APNSCore

// What the end of an attempt shows of its lane, its environment and its reason.
extension PushAttempt {
  /// The fault of the lane that the attempt shows; nil when it concerns the push or its device alone.
  var laneFault: LaneFault? {
    faultCause.map { LaneFault(cause: $0, reason: ledgerReason, askedWait: askedWait) }
  }

  /// Where the lane's fault lies; nil without one.
  var faultCause: LaneFault.Cause? {
    switch disposition {
    case .accepted, .dropToken, .suspectToken, .never, .fixRequest: return nil
    // The channel has already made a new token if one could help: what remains is a clock or a key.
    case .fixCredentials, .refreshProviderToken: return .configuration
    case .reconnect: return .connection
    case .retryLater:
      guard case .answered(let answer) = self else { return .connection }
      if answer.reason == "TooManyProviderTokenUpdates" { return .throttle }
      return answer.status == 429 ? nil : .service
    }
  }

  /// Whether the token may belong to the other environment.
  var mayBeElsewhere: Bool { disposition == .suspectToken && reason == "BadDeviceToken" }

  /// Whether APNs refuses the credential because it is not for this environment. Other refusals of a credential sometimes hit
  /// a valid one.
  var refusesEnvironment: Bool {
    faultCause == .configuration && reason.map(Self.environmentRefusals.contains) == true
  }

  private static let environmentRefusals: Set = [
    "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
  ]

  /// The longest reason that the ledger keeps, in characters. Apple's longest has 27.
  static let ledgerReasonMax = 64

  /// The reason for the ledger, the log and the host's table: word for word, known or not, cut where it is too long, with `?`
  /// for what is not printable ASCII. PostgreSQL's text cannot hold a zero. An empty reason counts as a missing one.
  var ledgerReason: String? {
    if case .answered(let answer) = self, answer.reason?.rawValue == "" { return "http_\(answer.status)" }
    return reason.map { reason in
      let scalars = reason.unicodeScalars.prefix(Self.ledgerReasonMax).map {
        (0x20...0x7E).contains($0.value) ? $0 : "?"
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  /// The wait that the answer asks for in its `retry-after` field.
  var askedWait: Duration {
    guard case .answered(let answer) = self else { return .zero }
    return answer.retryAfter ?? .zero
  }
}
