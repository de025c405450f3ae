/// The path and the `apns-…` header fields of a push request.
///
/// The connection adds `authorization`, because the provider token belongs to the connection and lives longer than a request.
package struct PushRequestHead: Equatable, Sendable {
  /// The device addressed, or one of its Live Activities.
  package let deviceToken: DeviceToken
  package let pushType: PushType
  /// What the credential must cover, `apns-topic`: the app's bundle identifier with the suffix of the push type.
  package let topic: String
  package let priority: PushPriority
  package let expiration: PushExpiration
  /// The stable identity over all attempts.
  package let identifier: PushIdentifier
  /// Pushes with the same one replace one another on the screen; nil when this one should not.
  package let collapseIdentifier: CollapseIdentifier?

  /// The head of a push to a device.
  /// - Throws: `priorityNotAllowed` when APNs does not take the priority for the push type.
  package init(
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
  package var bodyBytesMax: Int { pushType.bodyBytesMax }

  package var path: String { "/3/device/" + deviceToken.hexadecimal }

  /// The header fields in wire order, names in lower case as HTTP/2 requires, without pseudo-fields and `authorization`.
  package var fields: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEachField { name, value, _ in fields.append((name, value)) }
    return fields
  }

  /// Calls `body` with each of ``fields``, and with whether its value belongs to this push alone.
  ///
  /// Values that most pushes share come first, unique ones last.
  package func forEachField(_ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void) {
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiration = expiration.headerValue { body("apns-expiration", expiration, false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }
}
