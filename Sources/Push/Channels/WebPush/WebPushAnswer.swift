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
    let isRead = status >= 400 && body.count <= Self.bodyBytesMax
    let refusal = isRead ? PayloadObject(reading: body) : nil
    let word = refusal?.text("reason")
    let windowsText = fields[.windowsStatus]
    windowsStatus = windowsText.flatMap { WindowsStatus(rawValue: $0.lowercased()) }
    let number = refusal?.integer("errno").map { "errno_\($0)" }
    reason = (word ?? number ?? fields[.windowsError] ?? windowsText).flatMap { Self.shown($0) }
    // At most an hour, because a longer wait would outlive most pushes, and a broken proxy may ask for years.
    func wait(_ text: String?, date: String?) -> Duration? {
      RetryAfter.wait(text, date: date, atMost: .seconds(3600), now: now)
    }
    askedWait = wait(fields[.retryAfter], date: fields[.date]) ?? wait(fields[.windowsWait], date: nil)
    identifier = fields[.appleIdentifier].flatMap { Self.shown($0) }
    namesOtherKey = word == "VapidPkHashMismatch" || (status == 403 && Self.isOtherKeyOfFCM(body))
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
    let ruling = ruling(sent)
    var attempt = DeliveryAttempt(
      ruling.disposition, status: status,
      reason: ruling.disposition == .accepted ? nil : reason ?? "http_\(status)", fault: ruling.fault)
    attempt.askedWait = askedWait ?? .zero
    attempt.identifier = identifier
    return attempt
  }

  private func ruling(_ sent: Sent) -> AnswerTable.Ruling {
    var ruling = Self.table.ruling(onStatus: status, word: acceptedStatus ?? reason)
    if ruling == .tooMany, windowsStatus == .appThrottled { ruling.fault = .throttle }
    // The token is absent or invalid, or the key is not the subscription's: Mozilla and Windows do not tell which. A subscription never
    // takes another key than the one it was made with; with the same key the fault is here.
    let isRefused = ruling.disposition == .refreshProviderToken
    if namesOtherKey || (isRefused && (sent.hasOtherKey || !sent.mayRenewToken)) {
      ruling = sent.hasOtherKey ? .dropToken : .fixCredentials
    }
    if case .retryLater(let usual) = ruling.disposition {
      ruling.disposition = .retryLater(minimumWait: askedWait ?? usual)
    }
    return ruling
  }

  /// Windows may accept a push and not deliver it.
  private var acceptedStatus: String? { 200...299 ~= status ? windowsStatus?.rawValue ?? "" : nil }

  private static let table = AnswerTable([
    .init(200...299, "dropped", to: .never),
    .init(200...299, "channelthrottled", "appthrottled", to: .tooMany),
    // Apple's words that say more than their status.
    .init(100...499, "BadAuthorizationHeader", "BadJwtToken", "BadVapidPublicKey", to: .refreshProviderToken),
    .init(100...599, "IdleTimeout", "Shutdown", to: .reconnect),
    .init(100...499, "TooManyRequests", to: .tooMany),
    // Not in the protocol for senders, and never followed: it could lead anywhere.
    .init(300...399, to: .never),
    .init(401, to: .refreshProviderToken),
    .init(403, to: .refreshProviderToken),
    .init(404, to: .dropToken),
    .init(410, to: .dropToken),
    // Windows uses it for its limits.
    .init(406, to: .tooMany),
  ])
}
