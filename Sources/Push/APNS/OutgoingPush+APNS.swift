public import APNSCore
public import Deliverers
internal import PushKinds

extension OutgoingPush {
  /// The push as a request to APNs.
  /// - Throws: ``PushRequestError`` when the host's device token is malformed, or a broadcast channel does not take the push.
  public func request(of app: BundleIdentifier) throws(PushRequestError) -> PushRequest {
    let destination = try destination
    let head = try PushRequestHead(
      destination: destination, pushType: pushType, bundleIdentifier: app,
      priority: push.priority ?? pushType.usualPriority, expiration: expiration,
      identifier: PushIdentifier(
        eventKind: subject.kind, event: subject.id.text, recipient: userID.text, destination: destination),
      collapseIdentifier: push.collapseIdentifier)
    return try PushRequest(head: head, body: body())
  }

  private var destination: PushDestination {
    get throws(PushRequestError) {
      target.isBroadcast
        ? .channel(try ChannelIdentifier(target.address)) : .device(try DeviceToken(target.address))
    }
  }

  /// A channel that keeps nothing takes no moment.
  private var expiration: PushExpiration {
    target.isBroadcast && push.keptUntil == nil ? .attemptOnce : .until(unixSeconds: expiresAt)
  }

  private var pushType: PushType {
    switch push.document {
    case .alert: .alert
    case .background: .background
    case .liveActivity: .liveactivity
    }
  }

  private func body() throws(PushRequestError) -> [UInt8] {
    switch push.document {
    case .alert(let alert, _):
      return alert.encoded(badge: badge, identifier: logID.lowercased)
    case .background(var custom):
      if custom["badge"] == .null { custom["badge"] = badge.map { .integer(Int64($0)) } }
      return try BackgroundPayload(custom: custom).encoded()
    case .liveActivity(let payload):
      return payload.encoded()
    }
  }
}
