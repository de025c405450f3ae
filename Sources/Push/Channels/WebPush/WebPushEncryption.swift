package import Cryptography

/// Encrypts the content of a push for one browser: `aes128gcm` in one record (RFC 8291, RFC 8188).
package enum WebPushEncryption {
  /// The largest content, in bytes. With the header, the delimiter and the tag it makes a body of 4096, the largest that every
  /// push service accepts (RFC 8030 section 7.2).
  package static let contentBytesMax = bodyBytesMax - headerBytes - recordOverheadBytes

  /// Content is padded to a multiple of this, so that its length tells less about it: push services see the length of every
  /// message, and a usual message push, its preview, names and link, takes 250 to 480 bytes. At 512 nearly all of them look
  /// alike, and the longest content that is sent, 2560 bytes, has no padding at all.
  static let paddingStep = 512

  private static let bodyBytesMax = 4096
  private static let recordBytes: UInt32 = 4096
  private static let saltBytes = 16
  /// Salt, record size, and a key identifier of 65 bytes with its length.
  private static let headerBytes = saltBytes + 4 + 1 + 65
  /// The delimiter and the tag.
  private static let recordOverheadBytes = 1 + 16

  /// Encrypts with a new key and a random salt, and pads.
  /// - Parameter content: at most ``contentBytesMax`` bytes; may be empty.
  /// - Returns: the body of the request: 103 bytes longer than the padded content.
  /// - Throws: `payloadTooLarge`.
  package static func encrypt(_ content: [UInt8], for keys: WebPushKeys) throws(WebPushError) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    let salt = (0..<saltBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
    return try encrypt(
      content, for: keys, from: P256PrivateKey(), salt: salt, paddingBytes: paddingBytes(behind: content.count))
  }

  /// The zeros that make the content a multiple of ``paddingStep``, as far as they fit.
  static func paddingBytes(behind contentBytes: Int) -> Int {
    let padded = max(1, (contentBytes + paddingStep - 1) / paddingStep) * paddingStep
    return max(0, min(padded, contentBytesMax) - contentBytes)
  }

  /// Encrypts with a given key and salt. Neither may be used twice.
  /// - Parameter salt: 16 bytes.
  package static func encrypt(
    _ content: [UInt8], for keys: WebPushKeys, from key: P256PrivateKey, salt: [UInt8], paddingBytes: Int
  ) throws(WebPushError) -> [UInt8] {
    precondition(salt.count == saltBytes && paddingBytes >= 0, "salt of \(salt.count) bytes")
    guard content.count <= contentBytesMax, paddingBytes <= contentBytesMax - content.count else {
      throw WebPushError(.payloadTooLarge, "content of \(content.count) bytes; \(contentBytesMax) are allowed")
    }
    let input = inputKey(keys, key)
    let contentKey = HKDFSHA256.derive(
      from: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), byteCount: 16)
    let nonce = HKDFSHA256.derive(
      from: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), byteCount: 12)
    let record = AESGCM(key: contentKey).seal(
      content + [2] + [UInt8](repeating: 0, count: paddingBytes), nonce: nonce)
    return salt + withUnsafeBytes(of: recordBytes.bigEndian) { Array($0) } + [65] + key.publicKey.x963 + record
  }

  /// The input keying material of RFC 8188 (RFC 8291 section 3.3).
  private static func inputKey(_ keys: WebPushKeys, _ key: P256PrivateKey) -> [UInt8] {
    guard let secret = try? key.sharedSecret(with: keys.publicKey) else {
      preconditionFailure("two keys on P-256 have no shared secret")
    }
    let info = Array("WebPush: info\0".utf8) + keys.publicKey.x963 + key.publicKey.x963
    return HKDFSHA256.derive(from: secret, salt: keys.authenticationSecret, info: info, byteCount: 32)
  }
}

/// Where and how to reach one browser.
package struct WebPushSubscription: Sendable {
  package let endpoint: WebPushEndpoint

  package let keys: WebPushKeys

  /// The application server key that the browser subscribed with, as ``VAPIDSigner/publicKeyText``; nil when unknown.
  ///
  /// Push services refuse every other key for ever, so a refusal ends a subscription that was made with an older key.
  package let serverKey: String?

  package init(endpoint: WebPushEndpoint, keys: WebPushKeys, serverKey: String?) {
    self.endpoint = endpoint
    self.keys = keys
    self.serverKey = serverKey
  }
}

/// The keys of a subscription (RFC 8291 section 2).
package struct WebPushKeys: Equatable, Sendable {
  package let publicKey: P256PublicKey

  /// 16 bytes, known to the browser and its application server alone. A secret.
  package let authenticationSecret: [UInt8]

  /// Reads the keys as browsers write them.
  /// - Parameters:
  ///   - p256dh: base64url of an uncompressed point, 65 bytes, with or without padding.
  ///   - auth: base64url of 16 bytes, with or without padding.
  /// - Throws: `publicKeyMalformed`, also for a point that is not on the curve, or `authenticationSecretMalformed`.
  package init(p256dh: String, auth: String) throws(WebPushError) {
    guard let point = Self.bytes(p256dh, count: 65), let key = try? P256PublicKey(x963: point) else {
      throw WebPushError(.publicKeyMalformed, "p256dh is not base64url of a point on P-256")
    }
    guard let secret = Self.bytes(auth, count: 16) else {
      throw WebPushError(.authenticationSecretMalformed, "auth is not base64url of 16 bytes")
    }
    publicKey = key
    authenticationSecret = secret
  }

  private static func bytes(_ text: String, count: Int) -> [UInt8]? {
    let digits = (count * 4 + 2) / 3
    let padded = (count + 2) / 3 * 4
    switch text.utf8.count {
    case digits: return Base64URL.decode(text.utf8)
    case padded where text.utf8.dropFirst(digits).allSatisfy({ $0 == UInt8(ascii: "=") }):
      return Base64URL.decode(text.utf8.prefix(digits))
    default: return nil
    }
  }
}
