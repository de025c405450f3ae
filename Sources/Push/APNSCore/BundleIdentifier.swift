/// The identifier of an app in the App Store, from which every `apns-topic` is built.
public struct BundleIdentifier: Hashable, Sendable {
  /// The most bytes taken: what Apple's developer site accepts.
  public static let bytesMax = 255

  /// The identifier as given; letters, digits, dots and hyphens, case kept.
  public let text: String

  /// Takes an identifier such as `com.example.app`.
  ///
  /// - Throws: `bundleIdentifierMalformed` when it is empty, too long or holds other characters. Source:
  ///   `CFBundleIdentifier` in Apple's information property list reference.
  public init(_ text: String) throws(PushRequestError) {
    guard (1...Self.bytesMax).contains(text.utf8.count) else {
      throw PushRequestError(
        .bundleIdentifierMalformed, "\(text.utf8.count) bytes long; 1 to \(Self.bytesMax) are allowed")
    }
    guard text.utf8.allSatisfy(Self.isAllowed) else {
      throw PushRequestError(.bundleIdentifierMalformed, "only letters, digits, dots and hyphens are allowed")
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
  }
}
