internal import APNSCore
internal import FoundationEssentials
internal import PushRules
internal import PushStore

/// Makes the pushes of an event: one text for all recipients, one badge for each, one identifier for each device.
struct MessageComposer: Sendable {
  /// How long APNs may keep a push for a device that is off: the life of the message.
  let timeToLive: Duration

  /// The member with the id of the ledger's row, by which an app reports that the push was opened.
  private static let logIDName: StaticString = "push_log_id"

  /// The bytes that APNs leaves for an alert beside that id.
  static let alertBytesMax = PushType.alert.bodyBytesMax - PreparedAlert.bytes(ofIdentifierNamed: logIDName)

  /// The text of an event, escaped and fitted once; nil when the event was deleted.
  /// - Throws: ``PushRequestError`` when no text would fit, which the bounds on titles rule out.
  func alert(for event: PushEvent) throws(PushRequestError) -> PreparedAlert? {
    guard let payload = try payload(for: event) else { return nil }
    let alert = PreparedAlert(payload, identifierName: Self.logIDName)
    if alert.bytes(withBadge: payload.badge ?? 0) <= PushType.alert.bodyBytesMax { return alert }
    return PreparedAlert(try payload.fitted(to: Self.alertBytesMax).payload, identifierName: Self.logIDName)
  }

  private func payload(for event: PushEvent) throws(PushRequestError) -> AlertPayload? {
    if let message = event.message { return try payload(for: message, of: event) }
    if let notice = event.notice { return try payload(for: notice, of: event) }
    return nil
  }

  private func payload(
    for message: MessageContent, of event: PushEvent
  ) throws(PushRequestError) -> AlertPayload {
    let preview = MessagePreview(senderName: message.senderName, text: message.text)
    let conversationID = message.conversationID.lowercased
    return try AlertPayload(
      title: .verbatim(preview.title),
      body: .verbatim(preview.body),
      badge: event.recipients.compactMap(\.badge).max(),
      sound: .default,
      threadIdentifier: conversationID,
      custom: [
        "type": .string(event.subject.kind),
        "conversation_id": .string(conversationID),
        "message_id": .string(event.subject.id.lowercased),
      ])
  }

  private func payload(for notice: EventNotice, of event: PushEvent) throws(PushRequestError) -> AlertPayload {
    guard let surface = notice.surface else {
      guard let content = try? ServicePushContent(notice, kind: event.subject.kind) else {
        throw PushRequestError(.payloadEmpty, "the data is no JSON object")
      }
      return try content.payload(of: event.subject.id, badge: event.recipients.compactMap(\.badge).max())
    }
    let preview = NoticePreview(title: notice.title, body: notice.body)
    return try AlertPayload(
      title: .verbatim(preview.title),
      body: .verbatim(preview.body),
      badge: event.recipients.compactMap(\.badge).max(),
      sound: .default,
      threadIdentifier: surface.id.lowercased,
      custom: [
        "type": .string(event.subject.kind),
        "subject_id": .string(event.subject.id.lowercased),
        "surface_kind": .string(surface.kind),
        "surface_id": .string(surface.id.lowercased),
      ])
  }

  /// The push for one device.
  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
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
      expiration: expiration(for: recipient, of: event),
      identifier: event.identifier(for: recipient, on: token),
      collapseIdentifier: try CollapseIdentifier(event.notice?.collapseID ?? event.subject.id.lowercased))
    return try PushRequest(head: head, body: body(alert, for: recipient, of: event))
  }
}

extension MessageComposer {
  /// As for the suppression rules, time on hold does not count: a push held for quiet hours is worth as much in the morning.
  private func expiration(for recipient: PushRecipient, of event: PushEvent) -> PushExpiration {
    let dated = min(event.enqueuedAt, event.claimedAt - recipient.situation.messageAge.wholeMicroseconds)
    let (microseconds, overflow) = dated.addingReportingOverflow(recipient.situation.heldFor.wholeMicroseconds)
    return .until(unixSeconds: (overflow ? .max : microseconds) / 1_000_000 + timeToLive.components.seconds)
  }

  private func body(_ alert: PreparedAlert, for recipient: PushRecipient, of event: PushEvent) -> [UInt8] {
    alert.encoded(badge: recipient.badge, identifier: event.logID(of: recipient.userID).lowercased)
  }
}
