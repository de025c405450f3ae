internal import FoundationEssentials
internal import PushRules

/// What a message webhook names. Its three forms are hints: what is sent is read from the database. The envelope may have
/// other members, since its sender decides on them; the other two may not.
///
/// - the database-webhook envelope: `{"type": "INSERT", "table": …, "schema": …, "record": {"id": …}}`
/// - the message alone: `{"message_id": …}`
/// - one recipient's: `{"recipient_user_id": …, "message_id": …, …}`; the answer is then about that recipient
struct WebhookBody: Decodable, Equatable {
  let messageID: HostID
  let recipientID: HostID?

  /// Members of the other two forms, the last three of which are not used.
  private enum Key: String, CodingKey, CaseIterable {
    case messageID = "message_id"
    case recipientID = "recipient_user_id"
    case conversationID = "conversation_id"
    case senderName = "sender_name"
    case messagePreview = "message_preview"
  }

  init(from decoder: any Decoder) throws {
    let record = try decoder.envelopeRecord(
      \.messages, types: ["INSERT"], "must be INSERT; only new messages are pushed")
    (messageID, recipientID) =
      try record.map { ($0, nil) } ?? decoder.named(Key.messageID, \.messages, recipient: .recipientID)
  }
}

/// What a webhook about a watched kind names; as for messages, what is sent is read from the database, and the envelope
/// may have other members.
///
/// - the database-webhook envelope: `{"type": "INSERT" or "UPDATE", "table": …, "schema": …, "record": {"id": …}}`
/// - the subject alone, or with one recipient: `{"subject_id": …, "recipient_user_id": …}`
struct EventWebhookBody: Decodable, Equatable {
  let subjectID: HostID
  let recipientID: HostID?

  private enum Key: String, CodingKey, CaseIterable {
    case subjectID = "subject_id"
    case recipientID = "recipient_user_id"
  }

  init(from decoder: any Decoder) throws {
    let record = try decoder.envelopeRecord(
      \.subjects, types: ["INSERT", "UPDATE"], "must be INSERT or UPDATE; what is gone is not pushed")
    (subjectID, recipientID) =
      try record.map { ($0, nil) } ?? decoder.named(Key.subjectID, \.subjects, recipient: .recipientID)
  }
}

private enum EnvelopeKey: String, CodingKey {
  case type, record, id
}

extension Decoder {
  /// The id of the record in a database webhook's envelope; nil for another form.
  fileprivate func envelopeRecord(
    _ kind: KeyPath<IDTypes, IDTypes.IDType>, types: [String], _ demand: String
  ) throws -> HostID? {
    let body = try container(keyedBy: EnvelopeKey.self)
    guard body.contains(.record) || body.contains(.type) else { return nil }
    // By bytes: texts of rows may have any number of combining marks, which cost quadratic time as texts.
    let type = try body.decode(String.self, forKey: .type).utf8
    try body.require(types.contains { $0.utf8.elementsEqual(type) }, .type, demand)
    return try body.nestedContainer(keyedBy: EnvelopeKey.self, forKey: .record).decodeID(kind, forKey: .id)
  }

  /// What a body names, and the recipient if it names one.
  fileprivate func named<Key: CodingKey & CaseIterable>(
    _ key: Key, _ kind: KeyPath<IDTypes, IDTypes.IDType>, recipient: Key
  ) throws -> (HostID, HostID?) {
    let body = try members(Key.self)
    return (
      try body.decodeID(kind, forKey: key),
      body.contains(recipient) ? try body.decodeID(\.users, forKey: recipient) : nil
    )
  }
}
