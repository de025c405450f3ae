internal import FoundationEssentials

/// What a webhook about a watched kind names; as for messages, what is sent is read from the database, and the envelope
/// may have other members.
///
/// - the database-webhook envelope: `{"type": "INSERT" or "UPDATE", "table": …, "schema": …, "record": {"id": …}}`
/// - the subject alone, or with one recipient: `{"subject_id": …, "recipient_user_id": …}`
struct EventWebhookBody: Decodable, Equatable {
  let subjectID: UUID
  let recipientID: UUID?

  private enum Key: String, CodingKey {
    case type, record, id
  }

  private enum NamedKey: String, CodingKey, CaseIterable {
    case subjectID = "subject_id"
    case recipientID = "recipient_user_id"
  }

  init(subjectID: UUID, recipientID: UUID? = nil) {
    self.subjectID = subjectID
    self.recipientID = recipientID
  }

  init(from decoder: any Decoder) throws {
    let body = try decoder.container(keyedBy: Key.self)
    if body.contains(.record) || body.contains(.type) {
      guard ["INSERT", "UPDATE"].contains(try body.decode(String.self, forKey: .type)) else {
        throw DecodingError.dataCorruptedError(
          forKey: .type, in: body, debugDescription: "must be INSERT or UPDATE; what is gone is not pushed")
      }
      let record = try body.nestedContainer(keyedBy: Key.self, forKey: .record)
      subjectID = try record.decodeUUID(forKey: .id)
      recipientID = nil
    } else {
      let named = try decoder.members(NamedKey.self)
      subjectID = try named.decodeUUID(forKey: .subjectID)
      recipientID = named.contains(.recipientID) ? try named.decodeUUID(forKey: .recipientID) : nil
    }
  }
}
