package import Cryptography

/// A browser's subscription, with the browser's secrets.
package struct SimulatedSubscription: Sendable {
  /// What the service knows about it.
  package enum State: String, Codable, CaseIterable, Sendable {
    case active
    /// 404: the service has forgotten it.
    case expired
    /// 410: the user unsubscribed.
    case gone
  }

  /// The last segment of the endpoint's path.
  package let identifier: String
  /// Decrypts pushes.
  package let key: P256PrivateKey
  /// 16 bytes.
  package let secret: [UInt8]
  /// The only application server key that may push, as base64url; nil allows any, and pushes without VAPID.
  package let serverKey: String?
  package let face: PushServiceFace
  package internal(set) var state: State

  /// A subscription with new keys.
  package init(
    identifier: String, serverKey: String? = nil, face: PushServiceFace = .mozilla, state: State = .active,
    key: P256PrivateKey = P256PrivateKey(), secret: [UInt8]? = nil
  ) {
    self.identifier = identifier
    self.key = key
    self.secret = secret ?? (0..<16).map { _ in .random(in: 0...255) }
    self.serverKey = serverKey
    self.face = face
    self.state = state
  }

  /// The public key as the browser reports it: base64url of 65 bytes.
  package var p256dh: String { Base64URL.encode(key.publicKey.x963) }

  /// The secret as the browser reports it: base64url of 16 bytes.
  package var auth: String { Base64URL.encode(secret) }

  /// Decrypts a push as the browser does (RFC 8291).
  /// - Returns: the content without padding, and how many bytes of padding it had.
  package func decrypt(_ body: [UInt8]) throws(ContentFault) -> (content: [UInt8], paddingBytes: Int) {
    let encrypted = try EncryptedContent(body)
    guard encrypted.records.count == 1 else { throw .tooManyRecords }
    guard let sender = try? P256PublicKey(x963: encrypted.keyIdentifier),
      let shared = try? key.sharedSecret(with: sender)
    else { throw .keyMalformed }
    let info = Array("WebPush: info\0".utf8) + key.publicKey.x963 + sender.x963
    return try encrypted.open(with: HKDFSHA256.derive(from: shared, salt: secret, info: info, byteCount: 32))
  }
}
