internal import COpenSSL
internal import Cryptography

/// PEM texts of private keys in forms that the product reads but never writes, or refuses.
package enum KeyText {
  /// A new key on a curve, e.g. `P-384`, as PKCS #8.
  package static func elliptic(curve: String) -> String {
    generate("EC") { EVP_PKEY_CTX_set_group_name($0, curve) }
  }

  /// A new Ed25519 key, as PKCS #8.
  package static func ed25519() -> String {
    generate("ED25519") { _ in 1 }
  }

  /// The same key as SEC 1 (`EC PRIVATE KEY`).
  package static func traditional(_ pem: String) -> String {
    let key = read(pem)
    return MemoryBIO.text { PEM_write_bio_PrivateKey_traditional($0, key.pointer, nil, nil, 0, nil, nil) }
  }

  /// The same key, encrypted with AES-256 and a passphrase: PKCS #8 (`ENCRYPTED PRIVATE KEY`).
  package static func encrypted(_ pem: String, passphrase: String) -> String {
    let key = read(pem)
    return withCharacters(of: passphrase) { start, count in
      MemoryBIO.text { PEM_write_bio_PKCS8PrivateKey($0, key.pointer, EVP_aes_256_cbc(), start, count, nil, nil) }
    }
  }

  /// The same key as SEC 1, encrypted with a passphrase (RFC 1421 `DEK-Info`).
  package static func encryptedTraditional(_ pem: String, passphrase: String) -> String {
    let key = read(pem)
    var passphrase = Array(passphrase.utf8)
    return MemoryBIO.text {
      PEM_write_bio_PrivateKey_traditional(
        $0, key.pointer, EVP_aes_256_cbc(), &passphrase, Int32(passphrase.count), nil, nil)
    }
  }

  /// The same key, with the numbers of the curve instead of its name.
  package static func explicit(_ pem: String) -> String {
    changed(pem, OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_EC_ENCODING_EXPLICIT)
  }

  /// The same key, with a compressed point.
  package static func compressed(_ pem: String) -> String {
    changed(pem, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_COMPRESSED)
  }

  /// The public half of a key, in the form that its text has.
  package static func publicHalf(of pem: String) -> String {
    let key = read(pem)
    return MemoryBIO.text { PEM_write_bio_PUBKEY($0, key.pointer) }
  }

  private static func changed(_ pem: String, _ name: String, _ value: String) -> String {
    let key = read(pem)
    guard EVP_PKEY_set_utf8_string_param(key.pointer, name, value) == 1 else {
      preconditionFailure("\(name): \(ErrorQueue.drain().text)")
    }
    return MemoryBIO.text { PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil) }
  }

  private static func generate(_ algorithm: String, _ set: (OpaquePointer?) -> Int32) -> String {
    let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, set(context) == 1, EVP_PKEY_generate(context, &key) == 1 else {
      preconditionFailure("\(algorithm): \(ErrorQueue.drain().text)")
    }
    defer { EVP_PKEY_free(key) }
    return MemoryBIO.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  private static func read(_ pem: String) -> KeyHandle {
    let source = MemoryBIO.reading(pem)
    defer { BIO_free_all(source) }
    guard let key = PEM_read_bio_PrivateKey(source, nil, nil, nil) else {
      preconditionFailure("no key: \(ErrorQueue.drain().text)")
    }
    return KeyHandle(key)
  }

  private static func withCharacters<Result>(
    of text: String, _ body: (UnsafePointer<CChar>?, Int32) -> Result
  ) -> Result {
    text.withCString { body($0, Int32(text.utf8.count)) }
  }
}
