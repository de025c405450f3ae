internal import COpenSSL

/// An RSA public key, for RS256 signatures.
package struct RSAPublicKey: Sendable {
  private static let operation = "RSA public key"
  /// At least 2048 bits (RFC 7518 section 3.3). The time of a verification grows with the square of the length, and the
  /// publisher of a key set chooses the length, so there is an upper bound: 0.02 ms for 2048 bits, 0.3 ms for 8192.
  private static let modulusBits = 2048...8192
  /// Keys use 65537, and old ones 3. The time of a verification grows with the bits of the exponent: one as long as the
  /// modulus would make a verification as slow as a signature. 33 bits allow every exponent of 32 bits, and 2^32 + 1.
  private static let exponentBitsMax = 33

  private let key: KeyHandle
  private let modulusByteCount: Int

  /// A key from its two numbers (RFC 8017 section 3.1).
  /// - Parameters:
  ///   - modulus: big-endian (RFC 7518 section 6.3.1.1): odd, 2048 to 8192 bits. Leading zeros do not count.
  ///   - exponent: big-endian: odd, at least 3, at most 33 bits. Leading zeros do not count.
  /// - Throws: for other numbers. Whether the modulus is a product of two primes cannot be checked.
  package init(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) {
    let modulus = modulus.drop { $0 == 0 }
    let exponent = exponent.drop { $0 == 0 }
    guard Self.modulusBits.contains(Self.bits(modulus)), Self.isOdd(modulus) else {
      throw CryptographyError(Self.operation, "modulus is even or has \(Self.bits(modulus)) bits, not 2048 to 8192")
    }
    guard Self.isOdd(exponent), 2...Self.exponentBitsMax ~= Self.bits(exponent) else {
      throw CryptographyError(Self.operation, "exponent is even, less than 3 or longer than 33 bits")
    }
    modulusByteCount = modulus.count
    key = try ErrorQueue.checked(Self.operation) { Self.makeKey(modulus, exponent).map { KeyHandle($0) } }
  }

  /// Whether the key's owner signed the message: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.2, RS256 of RFC 7518).
  /// - Parameter signature: exactly as long as the modulus. Another length verifies nothing.
  package func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    signature.count == modulusByteCount && key.verifies(signature, of: message)
  }

  private static func bits(_ number: ArraySlice<UInt8>) -> Int {
    number.first.map { 8 * number.count - $0.leadingZeroBitCount } ?? 0
  }

  private static func isOdd(_ number: ArraySlice<UInt8>) -> Bool { (number.last ?? 0) & 1 == 1 }

  private static func makeKey(_ modulus: ArraySlice<UInt8>, _ exponent: ArraySlice<UInt8>) -> OpaquePointer? {
    let (n, e) = (BigEndian.number(modulus), BigEndian.number(exponent))
    let builder = OSSL_PARAM_BLD_new()
    let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)
    defer {
      BN_free(n)
      BN_free(e)
      OSSL_PARAM_BLD_free(builder)
      EVP_PKEY_CTX_free(context)
    }
    OpenSSL.require(copenssl_push_rsa_numbers(builder, n, e), "OSSL_PARAM_BLD_push_BN")
    let parameters = OSSL_PARAM_BLD_to_param(builder)
    defer { OSSL_PARAM_free(parameters) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, copenssl_public_key_selection(), parameters) == 1
    else { return nil }
    return key
  }
}

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
    key = KeyHandle.generate(EVP_PKEY_CTX_new_from_name(nil, "RSA", nil)) {
      OpenSSL.require(EVP_PKEY_CTX_set_rsa_keygen_bits($0, Int32(bits)), "EVP_PKEY_CTX_set_rsa_keygen_bits")
    }
    guard let publicKey = try? Self.publicHalf(of: key) else { preconditionFailure("a new RSA key has no public half") }
    self.publicKey = publicKey
  }

  /// Reads the first private key of a PEM text, as PKCS #8 (`PRIVATE KEY`, RFC 5958) or PKCS #1 (`RSA PRIVATE KEY`).
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
  /// Takes 0.7 ms with 2048 bits. The same message always has the same signature.
  /// - Returns: as many bytes as the modulus has.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] { try key.sign(message) }

  private static func publicHalf(of key: KeyHandle) throws(CryptographyError) -> RSAPublicKey {
    guard let modulus = key.integer(OSSL_PKEY_PARAM_RSA_N, byteCount: numberByteCountMax),
      let exponent = key.integer(OSSL_PKEY_PARAM_RSA_E, byteCount: numberByteCountMax)
    else { throw CryptographyError(operation, "modulus or exponent has more than 8192 bits") }
    return try RSAPublicKey(modulus: modulus, exponent: exponent)
  }
}
