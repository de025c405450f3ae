/// One push, ready to be sent: `POST` of the body to the head's path.
public struct PushRequest: Equatable, Sendable {
  /// The path and the header fields.
  public let head: PushRequestHead
  /// The JSON document, UTF-8, uncompressed.
  public let body: [UInt8]

  /// Joins a head and a body that fits its push type.
  ///
  /// - Throws: `payloadEmpty` or `payloadTooLarge`, as APNs would answer.
  public init(head: PushRequestHead, body: [UInt8]) throws(PushRequestError) {
    guard !body.isEmpty else { throw PushRequestError(.payloadEmpty, "a push needs a body") }
    guard body.count <= head.pushType.bodyBytesMax else {
      throw PushRequestError(
        .payloadTooLarge,
        "\(body.count) bytes; a push of type \(head.pushType.rawValue) takes \(head.pushType.bodyBytesMax)")
    }
    self.head = head
    self.body = body
  }
}

/// The path and the `apns-…` header fields of a push request.
///
/// The connection adds `authorization`, because the provider token belongs to the connection and lives longer than a request.
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
  /// Pushes with the same one replace one another on the screen; nil when this one should not.
  public let collapseIdentifier: CollapseIdentifier?

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
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiration = expiration.headerValue { body("apns-expiration", expiration, false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }
}

extension PushRequest {
  /// Joins a payload with its address; the push type is the payload's.
  ///
  /// - Parameters:
  ///   - deviceToken: the token for the push type: apps have one each for alerts, calls, every Live Activity and so on.
  ///   - bundleIdentifier: the app; with ``PushType/mdm`` the UID in the subject of the management certificate.
  ///   - priority: nil for ``PushType/usualPriority``.
  ///   - expiration: nil for ``PushType/usualExpiration``.
  /// - Throws: `priorityNotAllowed` or `payloadTooLarge`, as APNs would answer.
  public init(
    _ payload: some PushPayload,
    to deviceToken: DeviceToken,
    of bundleIdentifier: BundleIdentifier,
    priority: PushPriority? = nil,
    expiration: PushExpiration? = nil,
    identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    let type = payload.pushType
    let head = try PushRequestHead(
      deviceToken: deviceToken, pushType: type, bundleIdentifier: bundleIdentifier,
      priority: priority ?? type.usualPriority, expiration: expiration ?? type.usualExpiration, identifier: identifier,
      collapseIdentifier: collapseIdentifier)
    try self.init(head: head, body: payload.encoded())
  }
}
