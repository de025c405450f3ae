/// Whom a push is for.
public enum PushDestination: Hashable, Sendable {
  /// One app on one device, or one of its Live Activities.
  case device(DeviceToken)
  /// Every Live Activity that follows a channel.
  case channel(ChannelIdentifier)

  /// The largest body of a push to a channel, in bytes of JSON as sent. Source: "Sending broadcast push notification requests
  /// to APNs" (Apple).
  public static let broadcastBytesMax = 5120

  /// The device token in hexadecimal or the channel's identifier.
  public var text: String {
    switch self {
    case .device(let token): token.hexadecimal
    case .channel(let channel): channel.text
    }
  }

  /// The part of APNs that takes pushes for it.
  public var service: APNSService {
    switch self {
    case .device: .devices
    case .channel: .broadcasts
    }
  }
}

/// The address of a broadcast channel, as APNs issued it to an app in one of its environments.
///
/// It becomes a header field, so only the characters of base64 get in. Their case matters, unlike that of a device token.
public struct ChannelIdentifier: Hashable, Sendable {
  /// The longest identifier in bytes. Apple promises no length; 24 are common.
  public static let bytesMax = 512

  /// The identifier as APNs wrote it.
  public let text: String

  /// Takes standard base64 text with its padding (RFC 4648 §4).
  ///
  /// - Throws: `channelIdentifierMalformed` for an empty or overlong text, an incomplete group of four, or any other character.
  public init(_ text: String) throws(PushRequestError) {
    let count = text.utf8.count
    guard (4...Self.bytesMax).contains(count), count.isMultiple(of: 4) else {
      throw PushRequestError(
        .channelIdentifierMalformed, "\(count) bytes long; groups of four up to \(Self.bytesMax) are needed")
    }
    let padding = text.utf8.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard text.utf8.dropLast(padding).allSatisfy(Self.isDigit) else {
      throw PushRequestError(.channelIdentifierMalformed, "holds something else than base64")
    }
    self.text = text
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
  }
}

/// What APNs keeps of the pushes to a channel, fixed when the channel is created: the value of `message-storage-policy`.
public enum ChannelStorage: Int, CaseIterable, Sendable {
  /// Nothing: devices that are off miss a push. Such a channel takes more pushes, whose expiration must be 0.
  case nothing = 0
  /// The newest push, for up to eight hours.
  case newest = 1
}
