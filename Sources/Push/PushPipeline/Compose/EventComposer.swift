internal import APNSCore
internal import Logging
internal import PushStore

/// What an event says, encoded once for all its recipients.
enum PreparedPush {
  /// An alert to show.
  case alert(PreparedAlert)
  /// Messages to clear.
  case readSync(ReadSync)
}

/// Makes pushes: each kind of event has a separate composer.
struct EventComposer: Sendable {
  private let messages: MessageComposer
  private let readSyncs: ReadSyncComposer

  /// - Parameter timeToLive: how long APNs may keep a push.
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
  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
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

// Compose.
extension DeliveryPipeline {
  /// What an event says; nil when there is nothing to say or no push for it.
  func compose(_ event: PushEvent) -> PreparedPush? {
    do throws(PushRequestError) {
      return try composer.push(for: event)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.lowercased)", "error": "\(error)"])
      return nil
    }
  }
}

extension PushEvent {
  /// The identifier of a push to one device: the same at every attempt.
  func identifier(for recipient: PushRecipient, on token: DeviceToken) -> PushIdentifier {
    PushIdentifier(
      eventKind: subject.kind, event: subject.id.lowercased, recipient: recipient.userID.lowercased, deviceToken: token)
  }
}
