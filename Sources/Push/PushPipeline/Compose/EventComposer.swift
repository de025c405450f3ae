internal import APNSCore
internal import Logging
internal import PushKinds
internal import PushRules
internal import PushStore

// Compose: what an event says, once, and then the push for each device.
extension DeliveryPipeline {
  /// What an event says; nil when it is gone or fits no push.
  func compose(_ event: PushEvent) -> PreparedPush? {
    do throws(PushRequestError) {
      return try event.content?.push(about: event.subject)
    } catch {
      logger.error("cannot compose", metadata: ["subject_id": "\(event.subject.id.text)", "error": "\(error)"])
      return nil
    }
  }
}

extension PreparedPush {
  /// The push for one device or channel.
  /// - Parameter timeToLive: how long APNs may keep it for a device that is off, unless the push says otherwise.
  /// - Throws: ``PushRequestError`` when the host's device token is malformed, or a channel does not take the push.
  func request(
    to device: PushDevice, of app: BundleIdentifier, for recipient: PushRecipient, of event: PushEvent,
    timeToLive: Duration
  ) throws(PushRequestError) -> PushRequest {
    let destination = try device.destination
    let head = try PushRequestHead(
      destination: destination, pushType: pushType, bundleIdentifier: app, priority: priority ?? pushType.usualPriority,
      expiration: expiration(for: device, of: event, recipient, timeToLive: timeToLive),
      identifier: PushIdentifier(
        eventKind: event.subject.kind, event: event.subject.id.text, recipient: recipient.userID.text,
        destination: destination),
      collapseIdentifier: collapseIdentifier)
    return try PushRequest(head: head, body: body(for: recipient, of: event))
  }

  /// A channel that keeps nothing takes no moment.
  private func expiration(
    for device: PushDevice, of event: PushEvent, _ recipient: PushRecipient, timeToLive: Duration
  ) -> PushExpiration {
    if let keptUntil { return .until(unixSeconds: keptUntil) }
    return device.isChannel
      ? .attemptOnce : .until(unixSeconds: event.expiresAt(for: recipient, timeToLive: timeToLive))
  }

  private var pushType: PushType {
    switch document {
    case .alert: .alert
    case .background: .background
    case .liveActivity: .liveactivity
    }
  }

  private func body(for recipient: PushRecipient, of event: PushEvent) throws(PushRequestError) -> [UInt8] {
    let badge = badge ?? recipient.badge
    switch document {
    case .alert(let alert):
      return alert.encoded(badge: badge, identifier: event.logID(of: recipient.userID).lowercased)
    case .background(var custom):
      if custom["badge"] == .null { custom["badge"] = badge.map { .integer(Int64($0)) } }
      return try BackgroundPayload(custom: custom).encoded()
    case .liveActivity(let payload):
      return payload.encoded()
    }
  }
}

extension PushDevice {
  /// Whom its pushes are for.
  fileprivate var destination: PushDestination {
    get throws(PushRequestError) {
      isChannel ? .channel(try ChannelIdentifier(token)) : .device(try DeviceToken(token))
    }
  }
}

extension PushEvent {
  /// The end of a push's life, in seconds since 1970.
  ///
  /// As for the suppression rules, time on hold does not count unless the push has its own life: a message held for quiet hours
  /// is worth as much in the morning.
  fileprivate func expiresAt(for recipient: PushRecipient, timeToLive: Duration) -> Int64 {
    let situation = recipient.situation
    let held = situation.life == nil ? situation.heldFor.wholeMicroseconds : 0
    let (end, overflow) = datedAt.addingReportingOverflow(held)
    return (overflow ? .max : end) / 1_000_000 + (situation.life ?? timeToLive).components.seconds
  }
}
