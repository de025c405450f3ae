internal import COpenSSL

/// An RSA private key, for RS256 signatures. Copies share one OpenSSL key.
package struct RSAPrivateKey: Sendable {
  private static let operation = "RSA private key"

  /// The longest modulus that ``RSAPublicKey`` accepts, in bytes.
  private static let numberByteCountMax = 1024

  private let key: KeyHandle

  package let publicKey: RSAPublicKey

  /// A new random key with the public exponent 65537.
  /// - Parameter bits: the length of the modulus, in `2048...8192`. Traps outside. 2048 bits take about 50 ms.
  package init(bits: Int = 2048) {
    precondition((2048...8192).contains(bits), "RSA key of \(bits) bits")
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer { EVP_PKEY_CTX_free(context) }
    OpenSSL.require(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
    OpenSSL.require(EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)), "EVP_PKEY_CTX_set_rsa_keygen_bits")
    var pointer: OpaquePointer?
    OpenSSL.require(EVP_PKEY_generate(context, &pointer), "EVP_PKEY_generate")
    key = KeyHandle(OpenSSL.require(pointer, "EVP_PKEY_generate"))
    guard let publicKey = try? Self.publicHalf(of: key) else { preconditionFailure("a new RSA key has no public half") }
    self.publicKey = publicKey
  }

  /// Reads the first private key of a PEM text, as PKCS #8 (`PRIVATE KEY`, RFC 5958) or PKCS #1 (`RSA PRIVATE KEY`).
  ///
  /// Other PEM blocks before it are skipped.
  /// - Throws: for a text without a key, and for a key that has a passphrase, another algorithm (RSASSA-PSS included),
  ///   a modulus or exponent that ``RSAPublicKey`` refuses, or numbers that do not belong together.
  package init(pem: String) throws(CryptographyError) {
    // -1 refuses a key with a passphrase. By default OpenSSL asks for it on the terminal.
    key = try KeyHandle(pem: pem, Self.operation) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard EVP_PKEY_is_a(key.pointer, "RSA") == 1 else { throw CryptographyError(Self.operation, "not an RSA key") }
    publicKey = try Self.publicHalf(of: key)
    // `EVP_PKEY_check` would test the primes again, which takes 100 times as long.
    guard publicKey.verifies(try key.sign([]), of: []) else {
      throw CryptographyError(Self.operation, "the private half belongs to another public half")
    }
  }

  /// The key as PKCS #8 PEM text (RFC 5958), not encrypted. A secret.
  package var pem: String {
    MemoryBIO.text { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
  }

  /// Signs a message: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.1, RS256 of RFC 7518 section 3.3).
  ///
  /// Takes 0.7 ms with 2048 bits. The same message always has the same signature.
  /// - Returns: as many bytes as the modulus has.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try key.sign(message)
  }

  private static func publicHalf(of key: KeyHandle) throws(CryptographyError) -> RSAPublicKey {
    guard let modulus = key.integer(OSSL_PKEY_PARAM_RSA_N, byteCount: numberByteCountMax),
      let exponent = key.integer(OSSL_PKEY_PARAM_RSA_E, byteCount: numberByteCountMax)
    else { throw CryptographyError(operation, "modulus or exponent has more than 8192 bits") }
    return try RSAPublicKey(modulus: modulus, exponent: exponent)
  }
}
