internal import FoundationEssentials
package import PushRules

/// What APNs answered to one push.
package struct APNSAnswer: Equatable, Sendable {
  package let status: Int
  /// Why the push was refused; nil when the body did not say so.
  package let reason: APNSReason?
  /// With 410, when APNs found the token no longer valid, in milliseconds since 1970.
  package let timestampMilliseconds: Int64?
  /// The answer's `apns-id`. Ids made by APNs are upper case and have no regular version
  /// digit: compare without case, match answers to requests by stream.
  package let identifier: String?
  /// The wait that the answer asks for, already bounded; nil without one.
  package var retryAfter: Duration?

  package init(
    status: Int, reason: APNSReason? = nil, timestampMilliseconds: Int64? = nil, identifier: String? = nil
  ) {
    self.status = status
    self.reason = reason
    self.timestampMilliseconds = timestampMilliseconds
    self.identifier = identifier
  }
}

extension APNSAnswer {
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
      reason: document?.reason.map(APNSReason.init(rawValue:)),
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
package struct APNSReason: RawRepresentable, Hashable, Sendable {
  /// The text as APNs sent it.
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }
}

extension APNSReason: ExpressibleByStringLiteral {
  package init(stringLiteral value: String) { rawValue = value }
}

extension APNSAnswer {
  /// What to do next. A dead token's date comes from the answer.
  package var ruling: AnswerTable.Ruling {
    var ruling = Self.table.ruling(onStatus: status, word: reason?.rawValue)
    guard case .dropToken = ruling.disposition else { return ruling }
    ruling.disposition = .dropToken(invalidSinceMilliseconds: timestampMilliseconds)
    return ruling
  }

  /// Every documented reason of the device endpoint, and the forms seen on the wire. A reason with a status that is not its own counts
  /// as an unknown one.
  private static let table = AnswerTable([
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
    .init(410, "ExpiredToken", "Unregistered", to: .dropToken),
    // The credential may not push to this topic; the token is not at fault.
    .init(400, "TopicDisallowed", to: .fixCredentials),
    // Of `Forbidden` Apple forbids a retry; a stopped route makes none. Signing again with the same key gives the same answer: a new
    // token for each refusal would only add a 429. The key is restricted to the other environment: documented under the first name,
    // sent under the second.
    .init(
      403, "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken",
      "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken", to: .fixCredentials),
    // Older than an hour. A second one in a row means that a clock is wrong.
    // The client makes a new one where that can help: what remains is a clock or a key.
    .init(403, "ExpiredProviderToken", to: .init(.refreshProviderToken, fault: .configuration)),
    // The connection is at fault: it was idle too long, is bound to an unrelated key, or its server is going away.
    .init(400, "IdleTimeout", to: .reconnect),
    .init(403, "UnrelatedKeyIdInToken", to: .reconnect),
    .init(503, "Shutdown", to: .reconnect),
    // The connection saw provider tokens change within 20 minutes; another new one makes it worse, waiting helps.
    .init(
      429, "TooManyProviderTokenUpdates",
      to: .init(.retryLater(minimumWait: PushDisposition.tooManyWait), fault: .throttle)),
    .init(429, "TooManyRequests", to: .tooMany),
    .init(500, "InternalServerError", to: .outage()),
    // Documented in both spellings.
    .init(503, "ServiceUnavailable", "Service Unavailable", to: .outage()),
    // The answer is not from APNs, so the address or a proxy setting is wrong.
    .init(300...399, to: .fixCredentials),
    .init(401, to: .fixCredentials),
    .init(403, to: .fixCredentials),
    .init(407, to: .fixCredentials),
    .init(410, to: .dropToken),
  ])
}
