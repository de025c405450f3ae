extension PushRequest {
  /// Joins a payload with its address; the push type is the payload's, so the two always agree.
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
