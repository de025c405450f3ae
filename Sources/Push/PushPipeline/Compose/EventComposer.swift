internal import APNSCore
internal import PushStore

/// What an event says, made once for all its recipients.
enum PreparedPush {
  /// Something to show.
  case alert(PreparedAlert)
  /// Something to clear.
  case readSync(ReadSync)
}

/// Makes pushes: each kind of event has a composer of its own.
struct EventComposer: Sendable {
  private let messages: MessageComposer
  private let readSyncs: ReadSyncComposer

  /// - Parameter timeToLive: how long a push is worth anything.
  init(timeToLive: Duration) {
    messages = MessageComposer(timeToLive: timeToLive)
    readSyncs = ReadSyncComposer(timeToLive: timeToLive)
  }

  /// What an event says; nil when there is nothing to say.
  /// - Throws: ``PushRequestError`` when it fits no push.
  func push(for event: PushEvent) throws(PushRequestError) -> PreparedPush? {
    switch event.subject.kind {
    case PushSubject.readSyncKind: event.readSync.map { .readSync($0) }
    default: try messages.alert(for: event).map { .alert($0) }
    }
  }

  /// The push for one device.
  /// - Throws: ``PushRequestError`` when the host's token is not one.
  func request(
    _ push: PreparedPush, for device: PushDevice, of app: BundleIdentifier, to recipient: PushRecipient,
    in event: PushEvent
  ) throws(PushRequestError) -> PushRequest {
    switch push {
    case .alert(let alert): try messages.request(alert, for: device, of: app, to: recipient, in: event)
    case .readSync(let sync): try readSyncs.request(sync, for: device, of: app, to: recipient, in: event)
    }
  }
}

extension PushEvent {
  /// The identity of a push to one device: the same at every attempt, so that a resend replaces what is shown.
  func identifier(for recipient: PushRecipient, on token: DeviceToken) -> PushIdentifier {
    PushIdentifier(
      eventKind: subject.kind, event: subject.id.lowercased, recipient: recipient.userID.lowercased, deviceToken: token)
  }
}
