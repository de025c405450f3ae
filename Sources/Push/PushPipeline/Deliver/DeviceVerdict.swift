internal import APNS
internal import APNSCore

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

  /// APNs took it.
  case accepted
  /// APNs took it in the environment that the token's registration does not name.
  case acceptedElsewhere(APNSEnvironment)
  /// The token is dropped, unless it was registered after this moment in milliseconds since 1970; after the claim without
  /// one.
  case dead(reason: String?, sinceMilliseconds: Int64?)
  /// It cannot be sent.
  case refused(reason: String?)
  /// It is tried again on its own, after this time at the least.
  case postponed(reason: String?, minimum: Duration)
  /// It waits for a lane.
  case waiting(lane: String, reason: String?, StepBack)

  /// The same, except that a token is kept instead of dropped.
  var sparingToken: DeviceVerdict {
    if case .dead(let reason, _) = self { .refused(reason: reason) } else { self }
  }
}

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
