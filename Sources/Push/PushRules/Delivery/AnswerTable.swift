/// What the answers of one push service mean: its words that say more than their status, and statuses that mean something else than
/// to other services. The channels differ in their rows alone.
package struct AnswerTable: Sendable {
  package struct Row: Sendable {
    fileprivate let statuses: ClosedRange<Int>
    fileprivate let words: [String]
    fileprivate let disposition: PushDisposition

    /// - Parameter words: those that it is for; none for every answer of the status, with or without a word.
    package init(_ statuses: ClosedRange<Int>, _ words: String..., to disposition: PushDisposition) {
      self.statuses = statuses
      self.words = words
      self.disposition = disposition
    }

    package init(_ status: Int, _ words: String..., to disposition: PushDisposition) {
      statuses = status...status
      self.words = words
      self.disposition = disposition
    }
  }

  private var wordRows: [String: [Row]] = [:]
  private let statusRows: [Row]

  /// Of rows that fit, those with the answer's word go first, and then the earlier ones.
  package init(_ rows: [Row]) {
    for row in rows {
      for word in row.words { wordRows[word, default: []].append(row) }
    }
    statusRows = rows.filter(\.words.isEmpty)
  }

  package func disposition(ofStatus status: Int, word: String?) -> PushDisposition {
    // The usual answer looks nothing up.
    if status == 200, word == nil { return .accepted }
    let row =
      word.flatMap { wordRows[$0] }?.first { $0.statuses.contains(status) }
      ?? statusRows.first { $0.statuses.contains(status) }
    return row?.disposition ?? Self.usual(status)
  }

  private static func usual(_ status: Int) -> PushDisposition {
    switch status {
    // Accepted is accepted: resending after any success would show it twice.
    case 200...299: .accepted
    // RFC 9110 §15.5.9 and §15.5.20: the same request may succeed on another connection.
    case 408, 421: .reconnect
    case 413: .never
    case 429: .tooMany
    case 400...499: .fixRequest
    // 5xx, and numbers that are not a status: a fault of the other side, which may pass.
    default: .retryLater(minimumWait: PushDisposition.serviceFaultWait)
    }
  }
}

extension PushDisposition {
  /// Too much was sent, mostly to this one device.
  package static let tooMany = PushDisposition.retryLater(minimumWait: tooManyWait)

  /// Where the fault lies that such an answer of a table shows; nil when it concerns the push or its target alone.
  package var fault: DeliveryFault? {
    switch self {
    case .fixCredentials: .configuration
    case .reconnect: .connection
    case .retryLater: self == .tooMany ? nil : .service
    case .accepted, .dropToken, .suspectToken, .never, .fixRequest, .refreshProviderToken: nil
    }
  }
}

extension PushDisposition {
  /// What to do after an answer of APNs. A dead token's date comes from the answer.
  package static func disposition(of answer: PushAnswer) -> PushDisposition {
    let disposition = apns.disposition(ofStatus: answer.status, word: answer.reason?.rawValue)
    guard case .dropToken = disposition else { return disposition }
    return .dropToken(invalidSinceMilliseconds: answer.timestampMilliseconds)
  }

  /// Every documented reason of the device endpoint, and the forms seen on the wire. A reason with a status that is not its own counts
  /// as an unknown one.
  private static let apns = AnswerTable([
    // The request is wrong and stays wrong.
    .init(
      400, "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
      "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty", to: .fixRequest),
    .init(404, "BadPath", to: .fixRequest),
    .init(405, "MethodNotAllowed", to: .fixRequest),
    // The service sent no provider token: a bug here rather than a wrong key.
    .init(403, "MissingProviderToken", to: .fixRequest),
    // Malformed, unknown, or of the other environment; the second is another app's, or the topic is wrong.
    .init(400, "BadDeviceToken", "DeviceTokenNotForTopic", to: .suspectToken),
    // A resend has as many bytes, and every attempt counts against the connection.
    .init(413, "PayloadTooLarge", to: .never),
    // The token lived once: these two are proof, dated by the answer's timestamp.
    .init(410, "ExpiredToken", "Unregistered", to: .dropToken(invalidSinceMilliseconds: nil)),
    // The credential may not push to this topic; the token is not at fault.
    .init(400, "TopicDisallowed", to: .fixCredentials),
    // Of `Forbidden` Apple forbids a retry; a stopped route makes none. Signing again with the same key gives the same answer: a new
    // token for each refusal would only add a 429. The key is restricted to the other environment: documented under the first name,
    // sent under the second.
    .init(
      403, "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken",
      "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", to: .fixCredentials),
    // Older than an hour. A second one in a row means that a clock is wrong.
    .init(403, "ExpiredProviderToken", to: .refreshProviderToken),
    // The connection is at fault: it was idle too long, is bound to an unrelated key, or its server is going away.
    .init(400, "IdleTimeout", to: .reconnect),
    .init(403, "UnrelatedKeyIdInToken", to: .reconnect),
    .init(503, "Shutdown", to: .reconnect),
    // The first: the connection saw provider tokens change within 20 minutes; another new one makes it worse, waiting helps.
    .init(429, "TooManyProviderTokenUpdates", "TooManyRequests", to: .tooMany),
    .init(500, "InternalServerError", to: .retryLater(minimumWait: serviceFaultWait)),
    // Documented in both spellings.
    .init(503, "ServiceUnavailable", "Service Unavailable", to: .retryLater(minimumWait: serviceFaultWait)),
    // The answer is not from APNs, so the address or a proxy setting is wrong.
    .init(300...399, to: .fixCredentials),
    .init(401, to: .fixCredentials),
    .init(403, to: .fixCredentials),
    .init(407, to: .fixCredentials),
    .init(410, to: .dropToken(invalidSinceMilliseconds: nil)),
  ])
}
