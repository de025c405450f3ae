internal import FoundationEssentials

extension PushAnswer {
  /// The largest body that is looked into. APNs sends under 100 bytes; a proxy's error page is none of ours.
  public static let bodyBytesMax = 4096

  /// Reads an answer, tolerantly: a body that is empty, cut, not JSON or not an object leaves reason and timestamp nil,
  /// and the status alone decides what follows.
  ///
  /// - Parameters:
  ///   - status: the HTTP status.
  ///   - identifier: the `apns-id` field, if there was one.
  ///   - body: the whole body; of one over ``bodyBytesMax`` nothing is read.
  public init(status: Int, identifier: String?, body: [UInt8]) {
    let document = Self.document(in: body)
    self.init(
      status: status,
      reason: document?.reason.map(PushReason.init(rawValue:)),
      timestampMilliseconds: document?.timestamp,
      identifier: identifier)
  }

  private static func document(in body: [UInt8]) -> AnswerDocument? {
    // The usual answer is 200 without a body; it never meets the decoder.
    guard !body.isEmpty, body.count <= bodyBytesMax else { return nil }
    return try? JSONDecoder().decode(AnswerDocument.self, from: Data(body))
  }
}

/// The members of an error body; each is nil when absent or of another type, without harm to the other.
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
