internal import APNS
internal import APNSCore

/// What one attempt says, sorted by whom it concerns.
enum PushFinding: Equatable, Sendable {
  /// APNs took the push.
  case accepted
  /// The device's token is dead, since this moment in milliseconds since 1970 if APNs knows it.
  case dead(sinceMilliseconds: Int64?)
  /// The token was refused without proof that it is dead.
  case suspect
  /// The push was refused for its own fault.
  case refused
  /// This device gets too many; later, after this time at least.
  case throttled(minimum: Duration)
  /// The lane failed rather than this push.
  case fault(LaneFault.Cause)
}

extension PushAttempt {
  /// What the attempt says.
  var finding: PushFinding {
    switch disposition {
    case .accepted: .accepted
    case .dropToken(let milliseconds): .dead(sinceMilliseconds: milliseconds)
    case .never, .fixRequest: refusesToken ? .suspect : .refused
    // The channel has made a new token already, where one could help: what is left is a clock or a key.
    case .fixCredentials, .refreshProviderToken: .fault(.configuration)
    case .reconnect: .fault(.connection)
    case .retryLater(let minimum): finding(retryingAfter: minimum)
    }
  }

  /// Whether the token may be one of the other environment.
  var mayBeElsewhere: Bool { refusesToken && reason == "BadDeviceToken" }

  /// Whether the credential is refused because it is not for this environment. Other refusals of a credential come now
  /// and then for one that is right.
  var refusesEnvironment: Bool {
    finding == .fault(.configuration) && reason.map(Self.environmentRefusals.contains) == true
  }

  private static let environmentRefusals: Set = [
    "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
  ]

  /// The longest reason that the ledger keeps, in characters. Apple's longest has 27.
  static let ledgerReasonMax = 64

  /// The reason as the ledger, the log and the host's table get it: word for word, whether it is known or not, but cut
  /// where it is too long, and with `?` for what cannot be printed. PostgreSQL's text cannot hold a zero. An empty one
  /// is none.
  var ledgerReason: String? {
    if case .answered(let answer) = self, answer.reason?.rawValue == "" { return "http_\(answer.status)" }
    return reason.map { reason in
      let scalars = reason.unicodeScalars.prefix(Self.ledgerReasonMax).map { $0.isInk ? $0 : "?" }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  /// How long the answer asks to be left alone, in a field of its own.
  var askedWait: Duration {
    guard case .answered(let answer) = self else { return .zero }
    return answer.retryAfter ?? .zero
  }

  private var refusesToken: Bool {
    guard case .answered(let answer) = self, answer.status == 400 else { return false }
    return answer.reason?.suspectsDeviceToken == true
  }

  private func finding(retryingAfter minimum: Duration) -> PushFinding {
    guard case .answered(let answer) = self else { return .fault(.connection) }
    if answer.reason == "TooManyProviderTokenUpdates" { return .fault(.throttle) }
    return answer.status == 429 ? .throttled(minimum: max(minimum, askedWait)) : .fault(.service)
  }
}

extension Unicode.Scalar {
  /// ASCII that leaves a mark, or a space: APNs' words are made of it, and nothing of it acts on a terminal.
  fileprivate var isInk: Bool { (0x20...0x7E).contains(value) }
}
