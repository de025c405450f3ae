internal import FoundationEssentials
internal import PushRules
internal import PushStore

extension HostEvent {
  /// The event as JSON, in the form that Standard Webhooks recommends: `type`, `timestamp` and `data`. It has ids, names and
  /// times, and no text of a message. Members without a value are left out; the same event is the same bytes.
  var body: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(HostEventDocument(self)) else {
      preconditionFailure("strings cannot be encoded")
    }
    return Array(data)
  }
}

private struct HostEventDocument: Encodable {
  struct Content: Encodable {
    let user_id: String
    let push_id: String?
    let subject_id: String?
    let kind: String?
    let reason: String?
    let sent_at: String?
    let channel: String?
    let device: String?
  }

  let type: String
  let timestamp: String
  let data: Content

  init(_ event: HostEvent) {
    type = event.type
    timestamp = TimeText.instant(event.occurredAt)
    data = Content(
      user_id: event.userID.text, push_id: event.pushID?.lowercased, subject_id: event.subjectID?.text,
      kind: event.kind, reason: event.reason, sent_at: event.sentAt.map(TimeText.instant), channel: event.channel,
      device: event.device)
  }
}
