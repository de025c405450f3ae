internal import COpenSSL
internal import Cryptography

/// An RSA key pair for tests: Tacet verifies RS256 signatures and does not sign with RSA.
package struct RSATestKey: Sendable {
  private let key: KeyHandle

  /// A new key with the public exponent 65537. 2048 bits take about 50 ms, 4096 bits about 0.5 s.
  package init(bits: Int) {
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { preconditionFailure("RSA key of \(bits) bits: \(ErrorQueue.drain().text)") }
    self.key = KeyHandle(key)
  }

  /// The modulus: big-endian, without leading zeros.
  package var modulus: [UInt8] { number(OSSL_PKEY_PARAM_RSA_N) }

  /// The public exponent: big-endian, without leading zeros.
  package var exponent: [UInt8] { number(OSSL_PKEY_PARAM_RSA_E) }

  /// The key as PKCS #8 PEM text.
  package var pem: String {
    MemoryBIO.text { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
  }

  /// The public half as PEM text.
  package var publicPEM: String {
    MemoryBIO.text { PEM_write_bio_PUBKEY($0, key.pointer) }
  }

  /// Signs with RS256 (RFC 8017 section 8.2.1).
  /// - Returns: as many bytes as the modulus.
  package func sign(_ message: [UInt8]) -> [UInt8] {
    guard let signature = try? key.sign(message) else { preconditionFailure("RSA signature") }
    return signature
  }

  private func number(_ name: String) -> [UInt8] {
    guard let padded = key.integer(name, byteCount: 2048) else { preconditionFailure("RSA key without \(name)") }
    return Array(padded.drop { $0 == 0 })
  }
}
