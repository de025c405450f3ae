internal import COpenSSL

/// A private key on the curve P-256, for ES256 signatures and key agreement. Copies share one OpenSSL key.
package struct P256PrivateKey: Sendable {
  private static let operation = "P-256 private key"

  private let key: KeyHandle

  package let publicKey: P256PublicKey

  package init() {
    self.init(P256.generate())
  }

  /// Reads the first private key of a PEM text, as PKCS #8 (`PRIVATE KEY`, an Apple `.p8` file) or SEC 1 (`EC PRIVATE KEY`).
  ///
  /// Other PEM blocks before it are skipped.
  /// - Throws: for a text without a key, and for a key that has a passphrase, another algorithm, another curve, explicit
  ///   curve parameters, or the public half of another key.
  package init(pem: String) throws(CryptographyError) {
    // -1 refuses a key with a passphrase. By default OpenSSL asks for it on the terminal.
    let read = try KeyHandle(pem: pem, Self.operation) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    try P256.requireCurve(of: read, Self.operation)
    try P256.check(read, Self.operation)
    // A new key forgets how the text encoded the curve and the point, so that equal keys have equal PEM texts.
    self.init(try P256.privateKey(Self.scalar(of: read), Self.operation))
  }

  /// A key from its scalar. OpenSSL computes the public half.
  /// - Parameter scalar: 32 bytes, big-endian, from 1 to the curve's order less 1.
  /// - Throws: for another length or value.
  package init(scalar: [UInt8]) throws(CryptographyError) {
    let key = try P256.privateKey(scalar, Self.operation)
    try P256.check(key, Self.operation)
    self.init(key)
  }

  private init(_ key: KeyHandle) {
    self.key = key
    guard let point = P256.point(of: key), let publicKey = try? P256PublicKey(x963: point) else {
      preconditionFailure("a checked P-256 key has no point")
    }
    self.publicKey = publicKey
  }

  /// The key as PKCS #8 PEM text (RFC 5958), not encrypted. A secret. The same for equal keys.
  package var pem: String {
    MemoryBIO.text { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
  }

  /// The scalar: 32 bytes, big-endian. A secret.
  package var scalar: [UInt8] { Self.scalar(of: key) }

  /// Signs a message with ECDSA and SHA-256 (FIPS 186-5 section 6, ES256 of RFC 7518 section 3.4). Takes 20 µs.
  ///
  /// Two signatures of one message differ, because each has a random nonce.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> ES256Signature {
    guard let signature = ES256Signature(der: try key.sign(message)) else {
      preconditionFailure("EVP_DigestSign wrote no ECDSA signature")
    }
    return signature
  }

  /// Agrees on a secret (ECDH, RFC 5903 section 9): the x coordinate of the shared point. Takes 35 µs.
  /// - Returns: 32 bytes, big-endian. Not evenly random: derive keys from it with ``HKDFSHA256``.
  package func sharedSecret(with other: P256PublicKey) throws(CryptographyError) -> [UInt8] {
    try key.sharedSecret(with: other.key)
  }

  private static func scalar(of key: KeyHandle) -> [UInt8] {
    guard let scalar = key.integer(OSSL_PKEY_PARAM_PRIV_KEY, byteCount: P256.coordinateByteCount) else {
      preconditionFailure("a checked P-256 private key has no scalar")
    }
    return scalar
  }
}
