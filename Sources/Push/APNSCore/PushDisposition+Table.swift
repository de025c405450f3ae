extension PushDisposition {
  /// The shortest wait after a fault inside APNs. Source: "Handling notification responses from APNs" (Apple): a push
  /// answered with a 5xx status may be sent again after 15 minutes.
  public static let serviceFaultWait = Duration.seconds(15 * 60)
  /// The shortest wait after 429. Apple asks for "a delay" and names none; one minute, doubling, is the usual practice.
  public static let tooManyWait = Duration.seconds(60)

  /// What to do after an answer from the device endpoint.
  ///
  /// A known reason with its own status is looked up. Everything else (a reason not known, one that comes with a status
  /// it does not belong to, no reason) is judged by the status alone.
  public static func disposition(of answer: PushAnswer) -> PushDisposition {
    if let row = answer.reason.flatMap({ rows[$0] }), row.status == answer.status {
      return row.disposition.dated(by: answer)
    }
    return disposition(ofStatus: answer.status).dated(by: answer)
  }

  /// What a status says without a reason.
  private static func disposition(ofStatus status: Int) -> PushDisposition {
    switch status {
    // Accepted is accepted: resending after any success would show it twice.
    case 200...299: .accepted
    // Something else than APNs answers there, so the address or a proxy setting is wrong.
    case 300...399: .fixCredentials
    case 401, 403, 407: .fixCredentials
    // RFC 9110 §15.5.9 and §15.5.20: the same request may succeed on another connection.
    case 408, 421: .reconnect
    case 410: .dropToken(invalidSinceMilliseconds: nil)
    case 413: .never
    case 429: .retryLater(minimumWait: tooManyWait)
    case 400...499: .fixRequest
    // 5xx, and numbers that are no status at all: somebody else's fault, which may pass.
    default: .retryLater(minimumWait: serviceFaultWait)
    }
  }

  /// A dead token's date comes from the answer; the other cases have none.
  private func dated(by answer: PushAnswer) -> PushDisposition {
    guard case .dropToken = self else { return self }
    return .dropToken(invalidSinceMilliseconds: answer.timestampMilliseconds)
  }
}

extension PushDisposition {
  private struct Row {
    let status: Int
    let disposition: PushDisposition
  }

  /// Every documented reason of the device endpoint, and the forms seen on the wire.
  private static let rows: [PushReason: Row] = [
    // The request is wrong, and stays wrong however often it is sent.
    "BadCollapseId": Row(status: 400, disposition: .fixRequest),
    "BadExpirationDate": Row(status: 400, disposition: .fixRequest),
    "BadMessageId": Row(status: 400, disposition: .fixRequest),
    "BadPriority": Row(status: 400, disposition: .fixRequest),
    "BadTopic": Row(status: 400, disposition: .fixRequest),
    "DuplicateHeaders": Row(status: 400, disposition: .fixRequest),
    "InvalidPushType": Row(status: 400, disposition: .fixRequest),
    "MissingDeviceToken": Row(status: 400, disposition: .fixRequest),
    "MissingTopic": Row(status: 400, disposition: .fixRequest),
    "PayloadEmpty": Row(status: 400, disposition: .fixRequest),
    "BadPath": Row(status: 404, disposition: .fixRequest),
    "MethodNotAllowed": Row(status: 405, disposition: .fixRequest),
    // We sent no provider token: our bug, since the key need not be wrong for that.
    "MissingProviderToken": Row(status: 403, disposition: .fixRequest),

    // Malformed, unknown, or of the other environment. A wrong setting gives the same answer for good tokens, so this
    // alone drops none; see `PushReason.suspectsDeviceToken`.
    "BadDeviceToken": Row(status: 400, disposition: .never),
    // The token is another app's, or the topic is set wrongly; the same caution.
    "DeviceTokenNotForTopic": Row(status: 400, disposition: .never),
    // The same bytes are too many next time too, and every attempt counts against the connection.
    "PayloadTooLarge": Row(status: 413, disposition: .never),

    // The token lived once: these two are proof, dated by the answer's timestamp.
    "ExpiredToken": Row(status: 410, disposition: .dropToken(invalidSinceMilliseconds: nil)),
    "Unregistered": Row(status: 410, disposition: .dropToken(invalidSinceMilliseconds: nil)),

    // The credential may not push to this topic; the token is not at fault.
    "TopicDisallowed": Row(status: 400, disposition: .fixCredentials),
    "BadCertificate": Row(status: 403, disposition: .fixCredentials),
    "BadCertificateEnvironment": Row(status: 403, disposition: .fixCredentials),
    // Apple forbids retrying it; a lane that stands still does not.
    "Forbidden": Row(status: 403, disposition: .fixCredentials),
    // Signing again with the same key gives the same answer: a new token for each refusal would only add a 429.
    "InvalidProviderToken": Row(status: 403, disposition: .fixCredentials),
    // The key is restricted to the other environment. Documented under the first name, sent under the second.
    "BadEnvironmentKeyIdInToken": Row(status: 403, disposition: .fixCredentials),
    "BadEnvironmentKeyInToken": Row(status: 403, disposition: .fixCredentials),

    // Older than an hour. A second one in a row means that a clock is wrong.
    "ExpiredProviderToken": Row(status: 403, disposition: .refreshProviderToken),

    // The connection is at fault: it was idle too long, is bound to an unrelated key, or its server is going away.
    "IdleTimeout": Row(status: 400, disposition: .reconnect),
    "UnrelatedKeyIdInToken": Row(status: 403, disposition: .reconnect),
    "Shutdown": Row(status: 503, disposition: .reconnect),

    // The connection saw provider tokens change within 20 minutes. A new one makes it worse, waiting with the present
    // one cures.
    "TooManyProviderTokenUpdates": Row(status: 429, disposition: .retryLater(minimumWait: tooManyWait)),
    // Too many in a row to this one device; other devices are not concerned.
    "TooManyRequests": Row(status: 429, disposition: .retryLater(minimumWait: tooManyWait)),

    "InternalServerError": Row(status: 500, disposition: .retryLater(minimumWait: serviceFaultWait)),
    // Documented in both spellings.
    "ServiceUnavailable": Row(status: 503, disposition: .retryLater(minimumWait: serviceFaultWait)),
    "Service Unavailable": Row(status: 503, disposition: .retryLater(minimumWait: serviceFaultWait)),
  ]
}
