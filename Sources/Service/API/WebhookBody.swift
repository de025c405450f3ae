internal import FoundationEssentials

/// What a message webhook names. Its three forms are hints: what is sent is read from the database. The envelope may have
/// other members, since its sender decides on them; the other two may not.
///
/// - the database-webhook envelope: `{"type": "INSERT", "table": …, "schema": …, "record": {"id": …}}`
/// - the message alone: `{"message_id": …}`
/// - one recipient's: `{"recipient_user_id": …, "message_id": …, …}`; the answer is then about that recipient
struct WebhookBody: Decodable, Equatable {
  let messageID: UUID
  let recipientID: UUID?

  private enum Key: String, CodingKey {
    case type, record, id
  }

  /// Members of the other two forms, the last three of which are not used.
  private enum NamedKey: String, CodingKey, CaseIterable {
    case messageID = "message_id"
    case recipientID = "recipient_user_id"
    case conversationID = "conversation_id"
    case senderName = "sender_name"
    case messagePreview = "message_preview"
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
      let named = try decoder.members(NamedKey.self)
      messageID = try named.decodeUUID(forKey: .messageID)
      recipientID = named.contains(.recipientID) ? try named.decodeUUID(forKey: .recipientID) : nil
    }
  }

  private static func checkType(in body: KeyedDecodingContainer<Key>) throws {
    let type = try body.decode(String.self, forKey: .type)
    guard type == "INSERT" else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: body, debugDescription: "must be INSERT; only new messages are pushed")
    }
  }
}
