package import PushRules

/// One push to one device, ready to be sent to APNs: `POST` of the body to the path.
///
/// The connection adds `authorization`, because the provider token belongs to the connection and lives longer than a request.
package struct APNSRequest: Equatable, Sendable {
  /// The device addressed, or one of its Live Activities.
  package let deviceToken: DeviceToken
  package let pushType: PushType
  /// What the credential must cover, `apns-topic`: the app's bundle identifier with the suffix of the push type.
  package let topic: String
  package let priority: PushPriority
  /// Until when APNs keeps a push that it cannot hand to the device yet, in Unix seconds. With a moment that has passed it tries once;
  /// with nil the header is left out, and its own policy rules: at most 30 days.
  package let expiresAt: Int64?
  /// The stable identity over all attempts.
  package let identifier: PushIdentifier
  /// Pushes with the same one replace one another on the screen; nil when this one should not.
  package let collapseIdentifier: CollapseIdentifier?
  /// The JSON document, UTF-8, uncompressed.
  package let body: [UInt8]
  /// Whether the registration said which app has the token.
  var namesApp = true

  /// Joins a body with its address.
  ///
  /// - Parameters:
  ///   - deviceToken: the one for the push type. Apps have one token for alerts, and others for Live Activities.
  ///   - priority: nil for ``PushType/usualPriority``.
  /// - Throws: `priorityNotAllowed`, `payloadEmpty` or `payloadTooLarge`, as APNs would answer.
  package init(
    _ pushType: PushType, _ body: [UInt8], to deviceToken: DeviceToken, of bundleIdentifier: BundleIdentifier,
    priority: PushPriority? = nil, expiresAt: Int64? = nil, identifier: PushIdentifier,
    collapseIdentifier: CollapseIdentifier? = nil
  ) throws(PushRequestError) {
    let priority = priority ?? pushType.usualPriority
    guard pushType.allows(priority) else {
      throw PushRequestError(
        .priorityNotAllowed, "priority \(priority.rawValue) is not allowed for a push of type \(pushType.rawValue)")
    }
    guard !body.isEmpty else { throw PushRequestError(.payloadEmpty, "a push needs a body") }
    guard body.count <= PushType.bodyBytesMax else {
      throw PushRequestError(.payloadTooLarge, "\(body.count) bytes; a push takes \(PushType.bodyBytesMax)")
    }
    self.deviceToken = deviceToken
    self.pushType = pushType
    let suffix = pushType.topicSuffix
    topic = suffix.isEmpty ? bundleIdentifier.text : bundleIdentifier.text + suffix
    self.priority = priority
    // APNs refuses a sign.
    self.expiresAt = expiresAt.map { max(0, $0) }
    self.identifier = identifier
    self.collapseIdentifier = collapseIdentifier
    self.body = body
  }
}

extension APNSRequest {
  package var path: String { "/3/device/" + deviceToken.hexadecimal }

  /// Calls `body` with each header field in wire order, but for pseudo-fields and `authorization`, and with whether its value belongs to
  /// this push alone. Names are in lower case, as HTTP/2 requires.
  ///
  /// Values that most pushes share come first, unique ones last.
  package func forEachField(_ body: (_ name: String, _ value: String, _ isUnique: Bool) -> Void) {
    body("content-type", "application/json", false)
    body("apns-topic", topic, false)
    body("apns-push-type", pushType.rawValue, false)
    body("apns-priority", priority.headerValue, false)
    if let expiresAt { body("apns-expiration", String(expiresAt), false) }
    body("apns-id", identifier.text, true)
    if let collapseIdentifier { body("apns-collapse-id", collapseIdentifier.text, true) }
  }
}
