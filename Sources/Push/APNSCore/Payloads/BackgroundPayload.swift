/// A push that wakes the app without showing anything.
///
/// `aps` holds `content-available` and nothing else; an alert that wakes the app as well is an ``AlertPayload``. APNs
/// takes it at priority 5 only, and delivers two or three an hour. Source: "Pushing background updates to your App"
/// (Apple).
public struct BackgroundPayload: PushPayload {
  /// The app's own data, which stands beside `aps`.
  public let custom: PayloadObject

  /// Always ``PushType/background``.
  public var pushType: PushType { .background }

  /// - Throws: `customKeyReserved` when `custom` has a member named `aps`.
  public init(custom: PayloadObject = [:]) throws(PushRequestError) {
    self.custom = try custom.asCustomData()
  }

  /// The JSON document as sent.
  public func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 256) { json in
      json.append(member: "aps") { $0.append(member: "content-available", flag: true) }
      json.append(membersOf: custom)
    }
  }
}
