internal import FoundationEssentials
internal import HTTP2
internal import PushRules

/// Why APNs refuses every push of a pool, for an operator.
struct APNSRefusal: Equatable {
  /// The reason of APNs, or `http_` and the status.
  let reason: String

  let words: String

  /// - Parameters:
  ///   - tokenAge: how long ago the provider token was signed, by the monotonic clock.
  ///   - clock: how far the clocks are apart, if known.
  init(_ answer: APNSAnswer, tokenAge: Duration, clock: ClockDifference?) {
    reason = answer.reason?.rawValue ?? "http_\(answer.status)"
    words =
      switch reason {
      case "ExpiredProviderToken": Self.expired(tokenAge: tokenAge, clock: clock)
      case "InvalidProviderToken": Self.invalid(clock: clock)
      default: "APNs refuses the pushes: \(reason)"
      }
  }

  /// APNs takes a token for an hour. Calling a younger one expired means that a clock is wrong.
  private static func expired(tokenAge: Duration, clock: ClockDifference?) -> String {
    let fact = "APNs calls a provider token expired that was signed \(tokenAge.components.seconds) s ago"
    if let clock, clock.isNotable { return "\(fact): \(clock.words)" }
    let least = ProviderTokenSchedule.lifetime - tokenAge
    guard least > .zero else { return fact }
    return "\(fact): this machine's clock seems to be at least \(least.components.seconds) s behind that of APNs"
  }

  /// APNs gives the same reason for a token from the future, an unknown key and a wrong team.
  private static func invalid(clock: ClockDifference?) -> String {
    let fact = "APNs refuses the provider token (InvalidProviderToken)"
    if let clock, clock.isNotable { return "\(fact): \(clock.words)" }
    return "\(fact): the key, its identifier, the team's identifier or this machine's clock is wrong"
  }
}

/// What APNs says with a GOAWAY, and what follows from it.
struct GoAwayNotice: Equatable {
  enum Consequence: Equatable {
    /// Open another connection, with a fresh look-up of the name.
    case reconnect
    /// Open another connection when there is a push for it: nothing was wrong.
    case reconnectWhenNeeded
    /// Nothing until an operator has changed a setting: another connection would end the same way.
    case configurationFault(APNSReason)
  }

  /// Reasons that the credential or its use causes. `PushDisposition` cannot tell, because it looks a reason up together with
  /// its status, and a GOAWAY has no status.
  private static let configurationFaults: Set<APNSReason> = [
    "BadCertificate", "BadCertificateEnvironment", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken",
    "Forbidden", "InvalidProviderToken", "MissingProviderToken", "TopicDisallowed",
  ]

  private static let quotedBytesMax = 200

  /// The `reason` of the debug data; nil when that is empty, another text, or other JSON.
  let reason: APNSReason?

  /// The reason, or the other words of the server, for an operator.
  let words: String

  init(_ goAway: HTTP2GoAway) {
    reason = APNSAnswer(status: 0, identifier: nil, body: goAway.debugData).reason
    if let reason {
      words = reason.rawValue
    } else if goAway.debugData.isEmpty {
      words = "GOAWAY \(goAway.code)"
    } else {
      words = "GOAWAY \(goAway.code): \(Self.quote(goAway.debugData))"
    }
  }

  var consequence: Consequence {
    guard let reason else { return .reconnect }
    if Self.configurationFaults.contains(reason) { return .configurationFault(reason) }
    return reason == "IdleTimeout" ? .reconnectWhenNeeded : .reconnect
  }

  /// Control characters do not belong in a log line.
  private static func quote(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes.prefix(quotedBytesMax), as: UTF8.self)
    return String(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }
}

/// How far this machine's clock is from that of APNs, by the `date` field of an answer.
struct ClockDifference: Equatable {
  /// Differences worth a log line, in seconds; less is the age of the answer, or ordinary drift.
  private static let notableSeconds: Int64 = 60

  /// Positive when this machine is ahead.
  let seconds: Int64

  var isNotable: Bool { abs(seconds) >= Self.notableSeconds }

  var words: String {
    "this machine's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") that of APNs"
  }

  /// This machine's wall clock, in Unix seconds.
  static var wallSeconds: Int64 { Int64(Date().timeIntervalSince1970) }
}

extension ClockDifference {
  /// Compares with an answer's date.
  /// - Parameters:
  ///   - date: an IMF-fixdate (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`; any other text gives nil.
  ///   - now: Unix seconds.
  init?(date: String, now: Int64) {
    guard let seconds = RetryAfter.unixSeconds(date) else { return nil }
    self.seconds = now - seconds
  }
}

extension RetryAfter {
  /// The wait of an answer's fields, at most Apple's own after a fault of its service. APNs does not document the field; proxies and
  /// gateways in front of APNs send it.
  static func wait(_ text: String?, date: String?) -> Duration? {
    wait(text, date: date, atMost: PushDisposition.serviceFaultWait)
  }
}
