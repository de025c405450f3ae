internal import FoundationEssentials

/// What APNs answered to one push.
package struct PushAnswer: Equatable, Sendable {
  package let status: Int
  /// Why the push was refused; nil when the body did not say so.
  package let reason: PushReason?
  /// With 410, when APNs found the token no longer valid, in milliseconds since 1970.
  package let timestampMilliseconds: Int64?
  /// The answer's `apns-id`. Ids made by APNs are upper case and have no regular version
  /// digit: compare without case, match answers to requests by stream.
  package let identifier: String?
  /// The wait that the answer asks for, already bounded; nil without one.
  package var retryAfter: Duration?

  package init(
    status: Int, reason: PushReason? = nil, timestampMilliseconds: Int64? = nil, identifier: String? = nil
  ) {
    self.status = status
    self.reason = reason
    self.timestampMilliseconds = timestampMilliseconds
    self.identifier = identifier
  }
}

extension PushAnswer {
  /// The largest body that is read. APNs sends under 100 bytes; a larger one is a proxy's error page.
  package static let bodyBytesMax = 4096

  /// Reads an answer tolerantly: a body that is empty, cut, larger than ``bodyBytesMax`` or not a JSON object leaves reason
  /// and timestamp nil, and the status alone decides.
  ///
  /// - Parameter identifier: the `apns-id` field, if there was one.
  package init(status: Int, identifier: String?, body: [UInt8]) {
    let document = Self.document(in: body)
    self.init(
      status: status,
      reason: document?.reason.map(PushReason.init(rawValue:)),
      timestampMilliseconds: document?.timestamp,
      identifier: identifier)
  }

  private static func document(in body: [UInt8]) -> AnswerDocument? {
    // The usual answer is 200 without a body and skips the decoder.
    guard !body.isEmpty, body.count <= bodyBytesMax else { return nil }
    return try? JSONDecoder().decode(AnswerDocument.self, from: Data(body))
  }
}

/// The members of an error body; each is nil when absent or of another type.
private struct AnswerDocument: Decodable {
  let reason: String?
  let timestamp: Int64?

  private enum CodingKeys: CodingKey {
    case reason, timestamp
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    reason = try? container.decode(String.self, forKey: .reason)
    timestamp = try? container.decode(Int64.self, forKey: .timestamp)
  }
}

/// The `reason` of an APNs answer, kept as it came.
///
/// A string rather than an enumeration, because Apple adds reasons and an unknown one must not be lost. Names and statuses
/// are from "Handling notification responses from APNs" (Apple).
package struct PushReason: RawRepresentable, Hashable, Sendable {
  /// The text as APNs sent it.
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }
}

extension PushReason: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { rawValue = value }
}

/// How a request ends without an answer.
///
/// Source: RFC 9113 §8.7 (request reliability). A resend keeps the identifier, the fields and the body in both cases.
package enum TransportFailure: Error, Equatable, Sendable {
  /// APNs certainly did not process it: it was never written, its stream was refused (`REFUSED_STREAM`), or a GOAWAY named
  /// a lower last stream. It can be resent at once on another connection.
  case notProcessed(cause: String)
  /// It was on its way when the connection ended, so APNs may have delivered it. A resend may repeat it, which the collapse
  /// identifier hides on the screen.
  case unknown(cause: String)
}

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
