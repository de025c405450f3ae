package import Cryptography

/// Content encrypted for one device and one event.
///
///     0   1   version, 1
///     1   4   key identifier: the first bytes of SHA-256 over the device's public key
///     5  32   ephemeral public key (X25519, RFC 7748)
///    37   n   ciphertext of the padded content (AES-256-GCM)
///  37+n  16   tag
///
/// Key and nonce are 44 bytes of HKDF-SHA-256: the shared secret, salted with the ephemeral key and the device's key, for
/// ``purpose``. No ephemeral key is used twice, so no pair of key and nonce is. Authenticated with it are the head (bytes 0 to 36)
/// and the digest of ``SealedBinding``.
package enum SealedEnvelope {
  /// The first byte.
  static let version: UInt8 = 1

  /// What the derived key is for; names the version, so that another version has other keys.
  static let purpose = "tacet sealed content v1"

  /// Content is padded with spaces to one of these sizes, in bytes, so that its length says little.
  package static let paddedSizes = [256, 512, 1024, 2048]

  /// The bytes of head and tag.
  private static let overhead = 1 + SealingKey.identifierBytes + X25519PublicKey.byteCount + 16

  /// The characters of an envelope in base64url, of content of one of the sizes.
  package static func characters(ofPaddedSize size: Int) -> Int { ((size + overhead) * 4 + 2) / 3 }

  /// Encrypts content. Two operations on the curve take nearly all of its time, 25 µs each.
  /// - Parameters:
  ///   - content: a JSON document of at most the largest size. Traps for a longer one.
  ///   - ephemeral: another one each time, or content can be read by comparing envelopes.
  /// - Returns: the envelope in base64url without padding.
  /// - Throws: for a public key of low order.
  package static func seal(
    _ content: [UInt8], for key: SealingKey, boundTo binding: SealedBinding,
    from ephemeral: X25519PrivateKey = X25519PrivateKey()
  ) throws(CryptographyError) -> String {
    guard let size = paddedSizes.first(where: { $0 >= content.count }) else {
      preconditionFailure("content of \(content.count) bytes")
    }
    let padded = content + [UInt8](repeating: UInt8(ascii: " "), count: size - content.count)
    let head = [version] + key.identifier + ephemeral.publicKey.bytes
    let material = HKDFSHA256.derive(
      from: try ephemeral.sharedSecret(with: key.publicKey),
      salt: ephemeral.publicKey.bytes + key.publicKey.bytes, info: Array(purpose.utf8), byteCount: 44)
    let sealed = AES256GCM(key: Array(material.prefix(32))).seal(
      padded, nonce: Array(material.suffix(12)), additionalData: head + binding.digest)
    return Base64URL.encode(head + sealed)
  }
}

/// What an envelope belongs to: it opens for nothing else.
package struct SealedBinding: Sendable {
  /// SHA-256 over channel, address, kind and id, each followed by a zero byte except the last. No text holds a zero byte.
  let digest: [UInt8]

  /// - Parameters:
  ///   - channel: that delivers it, such as `apns`.
  ///   - address: of the device at the channel, as it was registered; device tokens in lower case.
  ///   - kind: of the event, as the push names it in `type`.
  ///   - id: of the event's subject, as the push names it in `message_id` or `subject_id`.
  package init(channel: String, address: String, kind: String, id: String) {
    digest = SHA256.hash(Array([channel, address, kind, id].joined(separator: "\0").utf8)).bytes
  }
}
