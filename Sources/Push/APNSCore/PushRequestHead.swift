/// Everything of a push request but its body and its credentials: the path and the `apns-…` header fields.
///
/// The provider token is not part of it: the connection adds `authorization`, because a token lives longer than a
/// request and belongs to the connection.
public struct PushRequestHead: Equatable, Sendable {
  /// The device addressed.
  public let deviceToken: DeviceToken
  /// What the push asks the device to do.
  public let pushType: PushType
  /// The app's bundle identifier with the suffix of the push type.
  public let topic: String
  /// How urgently the push is handed over.
  public let priority: PushPriority
  /// How long APNs keeps it.
  public let expiration: PushExpiration
  /// The stable identity over all attempts.
  public let identifier: PushIdentifier
  /// What replaces what on the screen; nil when nothing should.
  public let collapseIdentifier: CollapseIdentifier?

  /// Puts a head together.
  ///
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
    guard pushType.allows(priority) else {
      throw PushRequestError(
        .priorityNotAllowed, "priority \(priority.rawValue) is not allowed for a push of type \(pushType.rawValue)")
    }
    self.deviceToken = deviceToken
    self.pushType = pushType
    topic = pushType.topic(bundleIdentifier: bundleIdentifier.text)
    self.priority = priority
    self.expiration = expiration
    self.identifier = identifier
    self.collapseIdentifier = collapseIdentifier
  }
}

extension PushRequestHead {
  /// The `:path` of the request.
  public var path: String { "/3/device/" + deviceToken.hexadecimal }

  /// The header fields in wire order, names in lower case as HTTP/2 wants them, without pseudo-fields and
  /// `authorization`.
  public var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEachField { name, value, _ in fields.append((name, value)) }
    return fields
  }

  /// Calls `body` with each of ``fields``, and with whether its value belongs to this push alone.
  ///
  /// What is equal for most pushes comes first, what differs for each comes last.
  public func forEachField(_ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void) {
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiration = expiration.headerValue { body("apns-expiration", expiration, false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }
}
