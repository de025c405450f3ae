/// One push, ready to be sent: `POST` of the body to the head's path.
package struct PushRequest: Equatable, Sendable {
  package let head: PushRequestHead
  /// The JSON document, UTF-8, uncompressed.
  package let body: [UInt8]

  /// Joins a head and a body that fits its push type.
  ///
  /// - Throws: `payloadEmpty` or `payloadTooLarge`, as APNs would answer.
  package init(head: PushRequestHead, body: [UInt8]) throws(PushRequestError) {
    guard !body.isEmpty else { throw PushRequestError(.payloadEmpty, "a push needs a body") }
    guard body.count <= head.bodyBytesMax else {
      throw PushRequestError(
        .payloadTooLarge, "\(body.count) bytes; a push of type \(head.pushType.rawValue) takes \(head.bodyBytesMax)")
    }
    self.head = head
    self.body = body
  }
}

extension PushRequest {
  /// Joins a payload with its address; the push type is the payload's.
  ///
  /// - Parameters:
  ///   - deviceToken: the one for the push type. Apps have one token each for alerts, calls, every Live Activity and so on.
  ///   - bundleIdentifier: the app; with ``PushType/mdm`` the UID in the subject of the management certificate.
  ///   - priority: nil for ``PushType/usualPriority``.
  ///   - expiration: nil for ``PushType/usualExpiration``.
  /// - Throws: `priorityNotAllowed` or `payloadTooLarge`, as APNs would answer.
  package init(
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
