package import Cryptography

/// A device's public key, for which content is sealed.
package struct SealingKey: Equatable, Sendable {
  static let identifierBytes = 4

  package let publicKey: X25519PublicKey

  /// The first four bytes of its SHA-256, by which a device finds the private half.
  let identifier: [UInt8]

  package init(_ publicKey: X25519PublicKey) {
    self.publicKey = publicKey
    identifier = Array(SHA256.hash(publicKey.bytes).bytes.prefix(Self.identifierBytes))
  }

  /// Reads 32 bytes of base64url without padding; nil for another text.
  package init?(text: some StringProtocol) {
    guard text.utf8.count == 43, let bytes = Base64URL.decode(text.utf8), let key = try? X25519PublicKey(bytes) else {
      return nil
    }
    self.init(key)
  }

  /// Whether content can be sealed for it: not for the few keys of low order, whose secrets everybody knows.
  package var isUsable: Bool { (try? X25519PrivateKey().sharedSecret(with: publicKey)) != nil }
}
