/// A push that makes a managed device contact its server: `{"mdm": "<push magic>"}` without `aps`.
///
/// Its topic is the UID in the subject of the management certificate, and only a connection with that certificate may
/// send it.
public struct ManagementPayload: PushPayload {
  /// The secret word that the device gave to its server when it enrolled.
  public let pushMagic: String

  /// Always ``PushType/mdm``.
  public var pushType: PushType { .mdm }

  /// - Throws: `valueEmpty` without a push magic, by which the device knows its server.
  public init(pushMagic: String) throws(PushRequestError) {
    guard !pushMagic.isEmpty else { throw PushRequestError(.valueEmpty, "a device ignores an empty push magic") }
    self.pushMagic = pushMagic
  }

  /// The JSON document as sent.
  public func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 64) { $0.append(member: "mdm", text: pushMagic) }
  }
}
