internal import FoundationEssentials

/// What a message webhook names. Its three forms are hints: what is sent is read from the database.
///
/// - the database-webhook envelope: `{"type": "INSERT", "table": …, "schema": …, "record": {"id": …}}`
/// - the message alone: `{"message_id": …}`
/// - one recipient's: `{"recipient_user_id": …, "message_id": …, …}`; the answer is then about that recipient
struct WebhookBody: Decodable, Equatable {
  let messageID: UUID
  let recipientID: UUID?

  private enum Key: String, CodingKey {
    case type, record, id
    case messageID = "message_id"
    case recipientID = "recipient_user_id"
  }

  init(messageID: UUID, recipientID: UUID? = nil) {
    self.messageID = messageID
    self.recipientID = recipientID
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    if body.contains(.record) || body.contains(.type) {
      try Self.checkType(in: body)
      let record = try body.nestedContainer(keyedBy: Key.self, forKey: .record)
      messageID = try record.decodeUUID(forKey: .id)
      recipientID = nil
    } else {
      messageID = try body.decodeUUID(forKey: .messageID)
      recipientID = body.contains(.recipientID) ? try body.decodeUUID(forKey: .recipientID) : nil
    }
  }

  private static func checkType(in body: KeyedDecodingContainer<Key>) throws {
    let type = try body.decode(String.self, forKey: .type)
    guard type == "INSERT" else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: body, debugDescription: "must be INSERT; only new messages are pushed")
    }
  }

  /// Reads a body.
  /// - Throws: ``WebhookBodyError`` naming what is wrong.
  static func parse(_ bytes: [UInt8]) throws(WebhookBodyError) -> WebhookBody {
    do {
      return try JSONDecoder().decode(WebhookBody.self, from: Data(bytes))
    } catch let error as DecodingError {
      throw WebhookBodyError(error)
    } catch {
      throw WebhookBodyError(field: nil, detail: "The body is not valid JSON.")
    }
  }
}

/// A body that cannot be used, and which field is to blame.
struct WebhookBodyError: Error, Equatable {
  /// As a path, e.g. `record.id`; nil when the whole body is to blame.
  let field: String?

  /// What is wrong, for the caller to read. Contains nothing of the body.
  let detail: String

  init(field: String?, detail: String) {
    self.field = field
    self.detail = detail
  }

  init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self.init(context.codingPath + [key], "is missing")
    case .typeMismatch(_, let context):
      self.init(context.codingPath, "has the wrong type")
    case .valueNotFound(_, let context):
      self.init(context.codingPath, "must not be null")
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      self.init(context.codingPath, context.debugDescription)
    default:
      self.init(field: nil, detail: "The body is not valid JSON.")
    }
  }

  private init(_ path: [any CodingKey], _ fault: String) {
    let field = path.map(\.stringValue).joined(separator: ".")
    self.init(
      field: field.isEmpty ? nil : field,
      detail: field.isEmpty ? "The body must be a JSON object." : "\(field) \(fault).")
  }
}

extension KeyedDecodingContainer {
  fileprivate func decodeUUID(forKey key: Key) throws -> UUID {
    guard let id = UUID(uuidString: try decode(String.self, forKey: key)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be a UUID")
    }
    return id
  }
}
