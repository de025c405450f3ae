/// The path and the `apns-…` header fields of a push request.
///
/// The connection adds `authorization`, because the provider token belongs to the connection and lives longer than a request.
public struct PushRequestHead: Equatable, Sendable {
  /// The device or the channel addressed.
  public let destination: PushDestination
  /// What the push asks the device to do.
  public let pushType: PushType
  /// What the credential must cover. For a device it is `apns-topic`: the app's bundle identifier with the suffix of the push
  /// type. For a channel it is the bundle identifier, which stands in the path.
  public let topic: String
  /// How urgently the push is handed over.
  public let priority: PushPriority
  /// How long APNs keeps it.
  public let expiration: PushExpiration
  /// The stable identity over all attempts.
  public let identifier: PushIdentifier
  /// Pushes with the same one replace one another on the screen; nil when this one should not. Channels have none.
  public let collapseIdentifier: CollapseIdentifier?

  /// The head of a push to a device.
  /// - Throws: `priorityNotAllowed` when APNs does not take the priority for the push type.
  public init(
    deviceToken: DeviceToken,
    pushType: PushType,
    bundleIdentifier: BundleIdentifier,
    priority: PushPriority,
    expiration: PushExpiration,
    identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    try Self.check(priority, for: pushType)
    destination = .device(deviceToken)
    self.pushType = pushType
    topic = pushType.topic(bundleIdentifier: bundleIdentifier.text)
    self.priority = priority
    self.expiration = expiration
    self.identifier = identifier
    self.collapseIdentifier = collapseIdentifier
  }

  /// The head of a push to a channel.
  /// - Throws: `pushTypeNotAllowed` unless it is about a Live Activity, `priorityNotAllowed` when APNs does not take the priority
  ///   for the push type.
  public init(
    channel: ChannelIdentifier,
    pushType: PushType,
    bundleIdentifier: BundleIdentifier,
    priority: PushPriority,
    expiration: PushExpiration,
    identifier: PushIdentifier
  ) throws(PushRequestError) {
    guard pushType == .liveactivity else {
      throw PushRequestError(.pushTypeNotAllowed, "a channel takes no push of type \(pushType.rawValue)")
    }
    try Self.check(priority, for: pushType)
    destination = .channel(channel)
    self.pushType = pushType
    topic = bundleIdentifier.text
    self.priority = priority
    self.expiration = expiration
    self.identifier = identifier
    collapseIdentifier = nil
  }

  /// The head of a push to a device or a channel; a channel takes no collapse identifier, which is left out.
  /// - Throws: as the other two.
  public init(
    destination: PushDestination,
    pushType: PushType,
    bundleIdentifier: BundleIdentifier,
    priority: PushPriority,
    expiration: PushExpiration,
    identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    switch destination {
    case .device(let token):
      try self.init(
        deviceToken: token, pushType: pushType, bundleIdentifier: bundleIdentifier, priority: priority,
        expiration: expiration, identifier: identifier, collapseIdentifier: collapseIdentifier)
    case .channel(let channel):
      try self.init(
        channel: channel, pushType: pushType, bundleIdentifier: bundleIdentifier, priority: priority,
        expiration: expiration, identifier: identifier)
    }
  }

  private static func check(_ priority: PushPriority, for pushType: PushType) throws(PushRequestError) {
    guard pushType.allows(priority) else {
      throw PushRequestError(
        .priorityNotAllowed, "priority \(priority.rawValue) is not allowed for a push of type \(pushType.rawValue)")
    }
  }
}

extension PushRequestHead {
  /// The largest body that APNs takes with it, in bytes of JSON as sent.
  public var bodyBytesMax: Int {
    switch destination {
    case .device: pushType.bodyBytesMax
    case .channel: PushDestination.broadcastBytesMax
    }
  }

  /// The `:path` of the request.
  public var path: String {
    switch destination {
    case .device(let token): "/3/device/" + token.hexadecimal
    case .channel: "/4/broadcasts/apps/" + topic
    }
  }

  /// The header fields in wire order, names in lower case as HTTP/2 requires, without pseudo-fields and `authorization`.
  public var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEachField { name, value, _ in fields.append((name, value)) }
    return fields
  }

  /// Calls `body` with each of ``fields``, and with whether its value belongs to this push alone.
  ///
  /// Values that most pushes share come first, unique ones last.
  public func forEachField(_ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void) {
    if case .channel(let channel) = destination { return forEachField(to: channel, body) }
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiration = expiration.headerValue { body("apns-expiration", expiration, false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }

  /// The fields of a broadcast, whose expiration is required. Source: "Sending broadcast push notification requests to APNs"
  /// (Apple).
  private func forEachField(
    to channel: ChannelIdentifier, _ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void
  ) {
    body("content-type", "application/json", false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    body("apns-expiration", expiration.headerValue ?? "0", false)
    body("apns-channel-id", channel.text, true)
    body("apns-request-id", identifier.text, true)
  }
}
