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
    guard pushType.allowedPriorities.contains(priority) else {
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
  ///
  /// What is equal for most pushes comes first, what differs for each comes last.
  public var fields: [(name: String, value: String)] {
    var fields = [
      (name: "content-type", value: "application/json"),
      (name: "apns-topic", value: topic),
      (name: "apns-push-type", value: pushType.rawValue),
      (name: "apns-priority", value: priority.headerValue),
    ]
    if let expiration = expiration.headerValue { fields.append((name: "apns-expiration", value: expiration)) }
    fields.append((name: "apns-id", value: identifier.text))
    if let collapseIdentifier { fields.append((name: "apns-collapse-id", value: collapseIdentifier.text)) }
    return fields
  }
}
