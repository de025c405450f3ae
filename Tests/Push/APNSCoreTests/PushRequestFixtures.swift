import APNSCore

/// A head with defaults, so that a test shows only what it is about.
func makeHead(
  pushType: PushType = .alert,
  priority: PushPriority = .immediate,
  expiration: PushExpiration = .until(unixSeconds: 1_790_000_000),
  collapseIdentifier: CollapseIdentifier? = nil
) throws -> PushRequestHead {
  let token = try DeviceToken(String(repeating: "ab", count: 32))
  return try PushRequestHead(
    deviceToken: token,
    pushType: pushType,
    bundleIdentifier: BundleIdentifier("com.example.app"),
    priority: priority,
    expiration: expiration,
    identifier: PushIdentifier(eventKind: "message", event: "m-1", recipient: "u-1", deviceToken: token),
    collapseIdentifier: collapseIdentifier)
}
