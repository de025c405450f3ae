internal import FoundationEssentials
package import HTTPTypes
package import PushRules

/// What a push service answered, as far as the sender acts on it. Everything in it is untrusted.
///
/// Reads the forms of all services, whichever host it came from: Apple's `reason`, Mozilla's `errno`, the fields of Windows.
package struct WebPushAnswer: Equatable, Sendable {
  /// The largest content that is read, in bytes. Real ones have less than 500.
  static let bodyBytesMax = 4096

  /// The longest reason and identifier that are kept, in characters.
  private static let textMax = 128

  package let status: Int

  /// The service's word for a refusal: Apple's `reason`, `errno_` and Mozilla's number, or the description of Windows. As it
  /// came, cut at 128 characters. Nil when it has none.
  package let reason: String?

  /// The wait that the service asks for, at most an hour; nil without one.
  package let askedWait: Duration?

  /// Apple's `apns-id`; nil elsewhere.
  package let identifier: String?

  /// What Windows did with an accepted push; nil elsewhere.
  let windowsStatus: WindowsStatus?

  /// Whether the service says that the subscription belongs to another application server key.
  let namesOtherKey: Bool

  /// `X-WNS-Status`.
  enum WindowsStatus: String, Sendable {
    case received, dropped
    case channelThrottled = "channelthrottled"
    case appThrottled = "appthrottled"
  }

  /// Reads an answer.
  /// - Parameter now: Unix seconds, for a `Retry-After` date in an answer without `Date`.
  package init(status: Int, fields: HTTPFields, body: [UInt8], now: Int64) {
    self.status = status
    let refusal = status < 400 || body.count > Self.bodyBytesMax ? Refusal() : Refusal(body)
    let windowsText = fields[.windowsStatus]
    windowsStatus = windowsText.flatMap { WindowsStatus(rawValue: $0.lowercased()) }
    reason = (refusal.reason ?? refusal.number.map { "errno_\($0)" } ?? fields[.windowsError] ?? windowsText).flatMap {
      Self.shown($0)
    }
    askedWait =
      RetryAfter.wait(fields[.retryAfter], date: fields[.date], now: now)
      ?? RetryAfter.wait(fields[.windowsWait], date: nil, now: now)
    identifier = fields[.appleIdentifier].flatMap { Self.shown($0) }
    namesOtherKey = refusal.reason == "VapidPkHashMismatch" || (status == 403 && Self.isOtherKeyOfFCM(body))
  }

  private static func shown(_ text: String) -> String? {
    text.isEmpty ? nil : String(text.prefix(textMax))
  }

  /// FCM's sentence: `the key in the authorization header does not correspond to the sender ID …` of old, and `the VAPID
  /// credentials in the authorization header do not correspond to the credentials used to create the subscriptions.`
  private static func isOtherKeyOfFCM(_ body: [UInt8]) -> Bool {
    String(decoding: body.prefix(bodyBytesMax), as: UTF8.self).contains("not correspond to the")
  }
}

extension RetryAfter {
  /// The wait of a field: at most an hour, because a longer one would outlive most pushes, and a broken proxy may ask for years.
  /// - Parameter now: Unix seconds by this machine, in place of a missing `Date`.
  static func wait(_ text: String?, date: String?, now: Int64) -> Duration? {
    wait(text, date: date, atMost: .seconds(3600), now: now)
  }
}

/// The content of a refusal by Apple or Mozilla. Empty for any other content.
private struct Refusal: Decodable {
  var reason: String?
  var number: Int?

  private enum CodingKeys: String, CodingKey {
    case reason
    case number = "errno"
  }

  init() {}

  init(_ body: [UInt8]) {
    self = (try? JSONDecoder().decode(Refusal.self, from: Data(body))) ?? Refusal()
  }

  /// A member of another type counts as absent.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    reason = try? container.decode(String.self, forKey: .reason)
    number = try? container.decode(Int.self, forKey: .number)
  }
}

extension HTTPField.Name {
  fileprivate static let appleIdentifier = Self("apns-id")!
  fileprivate static let windowsStatus = Self("X-WNS-Status")!
  fileprivate static let windowsError = Self("X-WNS-Error-Description")!
  fileprivate static let windowsWait = Self("X-WNS-CONTINUE-AFTER")!
}

extension WebPushAnswer {
  /// What the sender knows about the request beside its answer.
  package struct Sent: Sendable {
    /// Whether the subscription was made with another key than the one that signed: the stored one differs.
    package let hasOtherKey: Bool
    /// Whether the token was old enough that a new one may be accepted.
    package let mayRenewToken: Bool

    package init(hasOtherKey: Bool, mayRenewToken: Bool) {
      self.hasOtherKey = hasOtherKey
      self.mayRenewToken = mayRenewToken
    }
  }

  /// The end of the attempt.
  ///
  /// Source: RFC 8030 sections 5 to 8, RFC 8292 section 4.2, and each service's documentation. A service's own word decides where
  /// it has one for the case, else the status.
  package func attempt(_ sent: Sent) -> DeliveryAttempt {
    let (disposition, fault) = ruling(sent)
    var attempt = DeliveryAttempt(
      disposition, status: status, reason: disposition == .accepted ? nil : reason ?? "http_\(status)", fault: fault)
    attempt.askedWait = askedWait ?? .zero
    attempt.identifier = identifier
    return attempt
  }

  private typealias Ruling = (PushDisposition, DeliveryFault?)

  private func ruling(_ sent: Sent) -> Ruling {
    if namesOtherKey { return otherKey(sent) }
    if let ruling = appleRuling(sent) { return ruling }
    switch status {
    case 200...299: return accepted
    // Not in the protocol for senders, and never followed: it could lead anywhere.
    case 300...399: return (.never, nil)
    case 401, 403: return refusedCredential(sent)
    case 404, 410: return (.dropToken(invalidSinceMilliseconds: nil), nil)
    // Windows uses 406 for its limits.
    case 406, 429: return later(PushDisposition.tooManyWait, windowsStatus == .appThrottled ? .throttle : nil)
    // RFC 9110 sections 15.5.9 and 15.5.20: the same request may succeed on another connection.
    case 408, 421: return (.reconnect, .connection)
    case 413: return (.never, nil)
    case 400...499: return (.fixRequest, nil)
    default: return later(PushDisposition.serviceFaultWait, .service)
    }
  }

  /// Windows may accept a push and not deliver it.
  private var accepted: Ruling {
    switch windowsStatus {
    case .dropped: (.never, nil)
    case .channelThrottled: later(PushDisposition.tooManyWait, nil)
    case .appThrottled: later(PushDisposition.tooManyWait, .throttle)
    case .received, nil: (.accepted, nil)
    }
  }

  /// Apple's words that say more than their status.
  private func appleRuling(_ sent: Sent) -> Ruling? {
    switch reason {
    case "BadAuthorizationHeader" where status < 500: refusedCredential(sent)
    case "BadJwtToken" where status < 500: refusedCredential(sent)
    case "BadVapidPublicKey" where status < 500: refusedCredential(sent)
    case "IdleTimeout", "Shutdown": (.reconnect, .connection)
    case "TooManyRequests" where status < 500: later(PushDisposition.tooManyWait, nil)
    default: nil
    }
  }

  /// The token is absent or invalid, or the key is not the subscription's: Mozilla and Windows do not tell which.
  private func refusedCredential(_ sent: Sent) -> Ruling {
    if sent.mayRenewToken, !sent.hasOtherKey { return (.refreshProviderToken, nil) }
    return otherKey(sent)
  }

  /// A subscription never takes another key than the one it was made with. With the same key the fault is here.
  private func otherKey(_ sent: Sent) -> Ruling {
    sent.hasOtherKey ? (.dropToken(invalidSinceMilliseconds: nil), nil) : (.fixCredentials, .configuration)
  }

  private func later(_ usual: Duration, _ fault: DeliveryFault?) -> Ruling {
    (.retryLater(minimumWait: askedWait ?? usual), fault)
  }
}
