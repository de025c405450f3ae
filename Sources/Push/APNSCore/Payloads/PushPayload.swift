/// The body of a push, of one push type and no other.
///
/// Each type of payload holds what its push type has a meaning for, and nothing that APNs or the device would drop
/// without a word. Source of all of them: "Generating a remote notification" (Apple), unless they name another.
public protocol PushPayload: Equatable, Sendable {
  /// The value of `apns-push-type` that goes with this body.
  var pushType: PushType { get }

  /// The JSON document as sent: UTF-8, no spaces, keys always in the same order.
  func encoded() -> [UInt8]
}

extension PayloadObject {
  /// The object as custom data, which stands beside `aps`.
  /// - Throws: `customKeyReserved` when it has a member named `aps`, which would replace everything else.
  func asCustomData() throws(PushRequestError) -> PayloadObject {
    guard self["aps"] == nil else { throw PushRequestError(.customKeyReserved, "the key aps belongs to Apple") }
    return self
  }
}
