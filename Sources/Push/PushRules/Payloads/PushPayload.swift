/// The body of a push of one push type.
///
/// A payload holds only what has a meaning for its push type: APNs or the device would silently drop the rest. Source of all
/// payloads: "Generating a remote notification" (Apple), unless they name another.
package protocol PushPayload: Equatable, Sendable {
  var pushType: PushType { get }

  /// The JSON document as sent: UTF-8, no spaces, keys always in the same order.
  func encoded() -> [UInt8]
}

extension PayloadObject {
  /// The object as custom data beside `aps`.
  /// - Throws: `customKeyReserved` when it has a member named `aps`, which would replace Apple's.
  func asCustomData() throws(PushRequestError) -> PayloadObject {
    guard self["aps"] == nil else { throw PushRequestError(.customKeyReserved, "the key aps belongs to Apple") }
    return self
  }
}

/// A push that wakes the app without showing anything.
///
/// `aps` holds `content-available` alone; an ``AlertPayload`` can wake the app too. APNs takes it at priority 5 only, and
/// delivers two or three an hour. Source: "Pushing background updates to your App" (Apple).
package struct BackgroundPayload: PushPayload {
  package let custom: PayloadObject

  package var pushType: PushType { .background }

  /// - Throws: `customKeyReserved` when `custom` has a member named `aps`.
  package init(custom: PayloadObject = [:]) throws(PushRequestError) {
    self.custom = try custom.asCustomData()
  }

  package func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 256) { json in
      json.append(member: "aps") { $0.append(member: "content-available", flag: true) }
      json.append(membersOf: custom)
    }
  }
}
