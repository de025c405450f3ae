package import Cryptography

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
