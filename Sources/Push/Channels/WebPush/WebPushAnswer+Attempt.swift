package import PushRules

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
