internal import Crypto

/// The `apns-id` of a push: the same event, recipient and device give the same identifier, in every attempt of every
/// process.
///
/// A version 5 UUID (RFC 9562 §5.5, SHA-1 over a namespace and a name) in lower-case 8-4-4-4-12 form, as Apple documents
/// it. Nothing secret goes in, and nothing is authenticated by it: SHA-1 is here because the RFC says so.
public struct PushIdentifier: Hashable, Sendable {
  /// Tacet's own name space, a random UUID. Changing it would give every push in flight a second identity.
  private static let namespace: [UInt8] = [
    0x7F, 0x8D, 0xEC, 0x24, 0x7A, 0xD0, 0x48, 0x68, 0x9F, 0x48, 0x43, 0x4F, 0xC4, 0xFF, 0x50, 0x2C,
  ]

  /// 36 characters of lower-case hexadecimal digits and hyphens.
  public let text: String

  /// Derives the identifier of one push.
  ///
  /// The parts are joined by a zero byte, which PostgreSQL's text cannot hold, so two different lists of parts never
  /// make the same name. They are taken as they are: give identifiers the way the database prints them.
  /// - Parameters:
  ///   - eventKind: the kind of event, such as `message`.
  ///   - event: the event's identifier within its kind.
  ///   - recipient: the user's identifier.
  ///   - deviceToken: the device addressed.
  public init(eventKind: String, event: String, recipient: String, deviceToken: DeviceToken) {
    let name = [eventKind, event, recipient, deviceToken.hexadecimal].joined(separator: "\0")
    text = Self.version5(namespace: Self.namespace, name: name)
  }

  static func version5(namespace: [UInt8], name: String) -> String {
    var hash = Insecure.SHA1()
    namespace.withUnsafeBytes { hash.update(bufferPointer: $0) }
    var name = name
    name.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
    var bytes = [UInt8](hash.finalize().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x50  // version 5
    bytes[8] = bytes[8] & 0x3F | 0x80  // the variant of RFC 9562
    return canonical(bytes)
  }

  private static func canonical(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: 36) { text in
      var position = 0
      for (index, byte) in bytes.enumerated() {
        if [4, 6, 8, 10].contains(index) {
          text[position] = UInt8(ascii: "-")
          position += 1
        }
        text[position] = HexadecimalDigits.lowerCase[Int(byte >> 4)]
        text[position + 1] = HexadecimalDigits.lowerCase[Int(byte & 0x0F)]
        position += 2
      }
      return position
    }
  }
}
