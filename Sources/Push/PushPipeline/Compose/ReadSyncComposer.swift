internal import APNSCore
internal import PushStore

/// Makes the background pushes by which a user's other devices clear read messages and show the new badge.
struct ReadSyncComposer: Sendable {
  /// How long APNs may keep a push for a device that is off.
  let timeToLive: Duration

  /// The push for one device. Ninety ids are 3.5 KB of the four that APNs takes.
  ///
  /// `message_ids` has the newest first. `conversation_id` is absent for messages of several conversations. `all_before` is the
  /// newest when not all of one conversation fit: the user has read everything before it too.
  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
  func request(
    _ sync: ReadSync, for device: PushDevice, of app: BundleIdentifier, to recipient: PushRecipient,
    in event: PushEvent
  ) throws(PushRequestError) -> PushRequest {
    let token = try DeviceToken(device.token)
    return try PushRequest(
      try BackgroundPayload(custom: custom(sync, for: recipient, in: event)), to: token, of: app,
      priority: .powerAware,
      expiration: .until(unixSeconds: event.enqueuedAt / 1_000_000 + timeToLive.components.seconds),
      identifier: event.identifier(for: recipient, on: token),
      collapseIdentifier: try CollapseIdentifier(event.subject.id.lowercased))
  }

  private func custom(_ sync: ReadSync, for recipient: PushRecipient, in event: PushEvent) -> PayloadObject {
    var custom: PayloadObject = [
      "type": "read",
      "message_ids": .array(sync.messageIDs.reversed().map { .string($0.lowercased) }),
    ]
    custom["badge"] = recipient.badge.map { .integer(Int64($0)) }
    guard let message = event.message else { return custom }
    custom["conversation_id"] = .string(message.conversationID.lowercased)
    if sync.hasMore { custom["all_before"] = sync.messageIDs.last.map { .string($0.lowercased) } }
    return custom
  }
}
