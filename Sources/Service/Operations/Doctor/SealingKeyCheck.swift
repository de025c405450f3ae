internal import PushRules
internal import PushStore
internal import Settings

/// Whether devices have keys, where the settings seal content: one without a key gets no words.
enum SealingKeyCheck {
  static let name = "sealing keys"

  /// Nothing where no setting seals.
  static func judge(_ keys: Int, _ counts: [DeviceTokenCount], apns: APNSSettings?) -> [CheckFinding] {
    guard let apns, ([apns.content] + apns.apps.map(\.content)).contains(where: \.isSealed) else { return [] }
    let tokens = counts.reduce(0) { $0 + $1.tokens }
    let found = "\(keys) devices have one; there are \(tokens) device tokens"
    guard keys == 0 else { return [CheckFinding(name, .ok, found)] }
    return [
      CheckFinding(
        name, .warning, "CONTENT is sealed, and no device has registered a key: pushes show no words",
        remedy: "have the app register sealing_key: deploy/API.md, Private content")
    ]
  }
}
