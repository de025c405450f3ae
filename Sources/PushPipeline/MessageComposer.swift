internal import APNSCore
internal import FoundationEssentials
internal import PushRules
internal import PushStore

/// Makes the pushes of a chat message: one text for all recipients, one badge for each, one identity for each device.
struct MessageComposer: Sendable {
  /// How long APNs may keep a push for a device that is off: as long as the message is worth a push at all.
  let timeToLive: Duration

  /// The text of an event, escaped and fitted once; nil when the event has no message.
  /// - Throws: ``PushRequestError`` when no text at all would fit, which the bounds on names rule out.
  func alert(for event: PushEvent) throws(PushRequestError) -> PreparedAlert? {
    guard let message = event.message else { return nil }
    let preview = MessagePreview(senderName: message.senderName, text: message.text)
    let payload = try AlertPayload(
      title: .verbatim(preview.title),
      body: .verbatim(preview.body),
      badge: event.recipients.map(\.badge).max(),
      sound: .default,
      threadIdentifier: message.conversationID.lowercased,
      custom: [
        "type": .string(event.subject.kind),
        "conversation_id": .string(message.conversationID.lowercased),
        "message_id": .string(event.subject.id.lowercased),
      ])
    return PreparedAlert(try payload.fitted(to: PushType.alert.bodyBytesMax).payload)
  }

  /// The push for one device.
  /// - Throws: ``PushRequestError`` when the host's token is not one.
  func request(
    _ alert: PreparedAlert, for device: PushDevice, of app: BundleIdentifier, to recipient: PushRecipient,
    in event: PushEvent
  ) throws(PushRequestError) -> PushRequest {
    let token = try DeviceToken(device.token)
    let head = try PushRequestHead(
      deviceToken: token,
      pushType: .alert,
      bundleIdentifier: app,
      priority: .immediate,
      expiration: .until(unixSeconds: event.enqueuedAt / 1_000_000 + timeToLive.components.seconds),
      identifier: PushIdentifier(
        eventKind: event.subject.kind, event: event.subject.id.lowercased, recipient: recipient.userID.lowercased,
        deviceToken: token),
      collapseIdentifier: try CollapseIdentifier(event.subject.id.lowercased))
    return try PushRequest(head: head, body: alert.encoded(badge: recipient.badge))
  }
}

extension UUID {
  /// The form that PostgreSQL prints and APNs documents.
  package var lowercased: String { uuidString.lowercased() }
}
