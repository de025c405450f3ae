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
