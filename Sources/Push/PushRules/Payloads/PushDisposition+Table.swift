extension PushDisposition {
  /// What to do after an answer of APNs.
  ///
  /// A known reason with its own status is looked up. The status alone decides about everything else: no reason, an
  /// unknown one, and one with a status that is not its own.
  package static func disposition(of answer: PushAnswer) -> PushDisposition {
    if let row = answer.reason.flatMap({ rows[$0] }), row.status == answer.status {
      return row.disposition.dated(by: answer)
    }
    return disposition(ofStatus: answer.status).dated(by: answer)
  }

  private static func disposition(ofStatus status: Int) -> PushDisposition {
    switch status {
    // Accepted is accepted: resending after any success would show it twice.
    case 200...299: .accepted
    // The answer is not from APNs, so the address or a proxy setting is wrong.
    case 300...399: .fixCredentials
    case 401, 403, 407: .fixCredentials
    // RFC 9110 §15.5.9 and §15.5.20: the same request may succeed on another connection.
    case 408, 421: .reconnect
    case 410: .dropToken(invalidSinceMilliseconds: nil)
    case 413: .never
    case 429: .retryLater(minimumWait: tooManyWait)
    case 400...499: .fixRequest
    // 5xx, and numbers that are not a status: a fault of the other side, which may pass.
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

    init(_ status: Int, _ disposition: PushDisposition) {
      self.status = status
      self.disposition = disposition
    }
  }

  /// Every documented reason of the device endpoint, and the forms seen on the wire.
  private static let rows: [PushReason: Row] = [
    // The request is wrong and stays wrong.
    "BadCollapseId": Row(400, .fixRequest),
    "BadExpirationDate": Row(400, .fixRequest),
    "BadMessageId": Row(400, .fixRequest),
    "BadPriority": Row(400, .fixRequest),
    "BadTopic": Row(400, .fixRequest),
    "DuplicateHeaders": Row(400, .fixRequest),
    "InvalidPushType": Row(400, .fixRequest),
    "MissingDeviceToken": Row(400, .fixRequest),
    "MissingTopic": Row(400, .fixRequest),
    "PayloadEmpty": Row(400, .fixRequest),
    "BadPath": Row(404, .fixRequest),
    "MethodNotAllowed": Row(405, .fixRequest),
    // The service sent no provider token: a bug here rather than a wrong key.
    "MissingProviderToken": Row(403, .fixRequest),

    // Malformed, unknown, or of the other environment.
    "BadDeviceToken": Row(400, .suspectToken),
    // The token is another app's, or the topic is wrong.
    "DeviceTokenNotForTopic": Row(400, .suspectToken),
    // A resend has as many bytes, and every attempt counts against the connection.
    "PayloadTooLarge": Row(413, .never),

    // The token lived once: these two are proof, dated by the answer's timestamp.
    "ExpiredToken": Row(410, .dropToken(invalidSinceMilliseconds: nil)),
    "Unregistered": Row(410, .dropToken(invalidSinceMilliseconds: nil)),

    // The credential may not push to this topic; the token is not at fault.
    "TopicDisallowed": Row(400, .fixCredentials),
    "BadCertificate": Row(403, .fixCredentials),
    "BadCertificateEnvironment": Row(403, .fixCredentials),
    // Apple forbids a retry; a stopped route makes none.
    "Forbidden": Row(403, .fixCredentials),
    // Signing again with the same key gives the same answer: a new token for each refusal would only add a 429.
    "InvalidProviderToken": Row(403, .fixCredentials),
    // The key is restricted to the other environment. Documented under the first name, sent under the second.
    "BadEnvironmentKeyIdInToken": Row(403, .fixCredentials),
    "BadEnvironmentKeyInToken": Row(403, .fixCredentials),

    // Older than an hour. A second one in a row means that a clock is wrong.
    "ExpiredProviderToken": Row(403, .refreshProviderToken),

    // The connection is at fault: it was idle too long, is bound to an unrelated key, or its server is going away.
    "IdleTimeout": Row(400, .reconnect),
    "UnrelatedKeyIdInToken": Row(403, .reconnect),
    "Shutdown": Row(503, .reconnect),

    // The connection saw provider tokens change within 20 minutes. Another new one makes it worse; waiting helps.
    "TooManyProviderTokenUpdates": Row(429, .retryLater(minimumWait: tooManyWait)),
    // Too many in a row to this one device.
    "TooManyRequests": Row(429, .retryLater(minimumWait: tooManyWait)),

    "InternalServerError": Row(500, .retryLater(minimumWait: serviceFaultWait)),
    // Documented in both spellings.
    "ServiceUnavailable": Row(503, .retryLater(minimumWait: serviceFaultWait)),
    "Service Unavailable": Row(503, .retryLater(minimumWait: serviceFaultWait)),
  ]
}
