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
    text = Self.version5(
      namespace: Self.namespace, name: [eventKind, event, recipient, deviceToken.hexadecimal])
  }

  /// - Parameter name: parts that are joined by a zero byte; on the stack, because there is a name for every push.
  static func version5(namespace: [UInt8], name: [String]) -> String {
    let byteCount = name.reduce(namespace.count + name.count - 1) { $0 + $1.utf8.count }
    return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 1) { bytes in
      bytes.copyBytes(from: namespace)
      var end = namespace.count
      for (index, part) in name.enumerated() {
        if index > 0 {
          bytes[end] = 0
          end += 1
        }
        UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: part.utf8)
        end += part.utf8.count
      }
      var hash = Insecure.SHA1()
      hash.update(bufferPointer: UnsafeRawBufferPointer(bytes))
      return hash.finalize().withUnsafeBytes { hash in HexadecimalDigits.uuid { marked(hash[$0], at: $0) } }
    }
  }

  private static func marked(_ byte: UInt8, at index: Int) -> UInt8 {
    switch index {
    case 6: byte & 0x0F | 0x50  // version 5
    case 8: byte & 0x3F | 0x80  // the variant of RFC 9562
    default: byte
    }
  }
}
