/// Pushes with the same value replace one another on the device's screen: the `apns-collapse-id` header.
///
/// It is the only server-side means against visible duplicates (`apns-id` is not documented to be one), so every push
/// that may be resent has one that stays the same over all its attempts.
public struct CollapseIdentifier: Hashable, Sendable {
  /// APNs' limit, in bytes and not in characters.
  public static let bytesMax = 64

  /// The identifier as sent.
  public let text: String

  /// Takes printable ASCII text of 1 to 64 bytes.
  ///
  /// Apple limits only the length; the character set is what a header field carries unharmed (RFC 9110 §5.5), without
  /// the spaces that HTTP/2 forbids at either end (RFC 9113 §8.2.1).
  /// - Throws: `collapseIdentifierMalformed`.
  public init(_ text: String) throws(PushRequestError) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else {
      throw PushRequestError(
        .collapseIdentifierMalformed, "\(text.utf8.count) bytes long; 1 to \(Self.bytesMax) are allowed")
    }
    var text = text
    guard text.withUTF8({ $0.allSatisfy { (0x21...0x7E).contains($0) } }) else {
      throw PushRequestError(.collapseIdentifierMalformed, "only printable ASCII without spaces is allowed")
    }
    self.text = text
  }
}
