package import PushRules

extension OutgoingPush {
  /// The push as a request to APNs.
  /// - Throws: ``PushRequestError`` when the host's device token is malformed.
  package func request(of app: BundleIdentifier) throws(PushRequestError) -> PushRequest {
    let deviceToken = try DeviceToken(target.address)
    let head = try PushRequestHead(
      deviceToken: deviceToken, pushType: pushType, bundleIdentifier: app,
      priority: push.priority ?? pushType.usualPriority, expiration: .until(unixSeconds: expiresAt),
      identifier: PushIdentifier(
        eventKind: subject.kind, event: subject.id.text, recipient: userID.text, deviceToken: deviceToken),
      collapseIdentifier: push.collapseIdentifier)
    return try PushRequest(head: head, body: body())
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
