/// The identifier of a broadcast channel, as APNs issued it.
public struct ChannelIdentifier: Hashable, Sendable {
  /// The identifier as issued: standard base64 (RFC 4648 §4) of unspecified length, 24 characters so far.
  public let text: String

  /// Takes an identifier.
  /// - Throws: `channelIdentifierMalformed` for an empty text and for one that is not standard base64 with its padding.
  public init(_ text: String) throws(PushRequestError) {
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.utf8.dropFirst(digits.count)
    guard !digits.isEmpty, text.utf8.count.isMultiple(of: 4), padding.count <= 2,
      padding.allSatisfy({ $0 == UInt8(ascii: "=") }), digits.allSatisfy(Self.isDigit)
    else {
      throw PushRequestError(.channelIdentifierMalformed, "\(text.utf8.count) bytes that are not standard base64")
    }
    self.text = text
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
  }
}
