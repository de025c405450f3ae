internal import COpenSSL

/// A private key for key agreement on Curve25519 (RFC 7748). Copies share one OpenSSL key.
package struct X25519PrivateKey: Sendable {
  private let key: KeyHandle
  package let publicKey: X25519PublicKey

  /// A new random key. Takes 25 µs.
  package init() {
    self.init(KeyHandle.generate(EVP_PKEY_CTX_new_from_name(nil, "X25519", nil)))
  }

  /// A key from its scalar.
  /// - Parameter scalar: 32 bytes; five of their bits have no effect (RFC 7748 section 5).
  /// - Throws: for another length.
  package init(scalar: [UInt8]) throws(CryptographyError) {
    let read = try ErrorQueue.checked("X25519 private key") {
      EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, scalar, scalar.count)
    }
    self.init(KeyHandle(read))
  }

  private init(_ key: KeyHandle) {
    self.key = key
    let bytes = [UInt8](unsafeUninitializedCapacity: X25519PublicKey.byteCount) { output, count in
      count = X25519PublicKey.byteCount
      OpenSSL.require(
        EVP_PKEY_get_raw_public_key(key.pointer, output.baseAddress, &count), "EVP_PKEY_get_raw_public_key")
    }
    guard let publicKey = try? X25519PublicKey(bytes) else { preconditionFailure("an X25519 key has no public half") }
    self.publicKey = publicKey
  }

  /// The scalar, 32 bytes. A secret.
  package var scalar: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: X25519PublicKey.byteCount) { output, count in
      count = X25519PublicKey.byteCount
      OpenSSL.require(
        EVP_PKEY_get_raw_private_key(key.pointer, output.baseAddress, &count), "EVP_PKEY_get_raw_private_key")
    }
  }

  /// Agrees on a secret (RFC 7748 section 6.1). Takes 25 µs.
  /// - Returns: 32 bytes. Not evenly random: derive keys from them with ``HKDFSHA256``.
  /// - Throws: for one of the few public keys of low order, with which every secret is zero.
  package func sharedSecret(with other: X25519PublicKey) throws(CryptographyError) -> [UInt8] {
    try key.sharedSecret(with: other.key)
  }
}

package struct X25519PublicKey: Sendable, Equatable {
  package static let byteCount = 32

  let key: KeyHandle
  /// The u-coordinate, 32 bytes, little-endian.
  package let bytes: [UInt8]

  /// Takes a u-coordinate. Any 32 bytes are one.
  /// - Throws: for another length.
  package init(_ bytes: [UInt8]) throws(CryptographyError) {
    let read = try ErrorQueue.checked("X25519 public key") {
      EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, bytes, bytes.count)
    }
    key = KeyHandle(read)
    self.bytes = bytes
  }

  package static func == (one: X25519PublicKey, other: X25519PublicKey) -> Bool { one.bytes == other.bytes }
}
