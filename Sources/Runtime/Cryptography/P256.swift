internal import COpenSSL

/// A private key on the curve P-256, for ES256 signatures and key agreement. Copies share one OpenSSL key.
package struct P256PrivateKey: Sendable {
  private static let operation = "P-256 private key"

  private let key: KeyHandle
  package let publicKey: P256PublicKey

  package init() { self.init(P256.generate()) }

  /// Reads the first private key of a PEM text, as PKCS #8 (`PRIVATE KEY`, an Apple `.p8` file) or SEC 1 (`EC PRIVATE KEY`).
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

/// A public key on the curve P-256. Keys with the same point are equal.
package struct P256PublicKey: Hashable, Sendable {
  private static let operation = "P-256 public key"

  let key: KeyHandle
  /// The uncompressed point (ANSI X9.63, SEC 1 section 2.3.3): 65 bytes, 04 and the two coordinates, big-endian.
  package let x963: [UInt8]

  /// A key from its point.
  /// - Parameter x963: an uncompressed point, 65 bytes.
  /// - Throws: for another length or form, and for a point that is not on the curve.
  package init(x963: [UInt8]) throws(CryptographyError) {
    key = try P256.publicKey(x963, Self.operation)
    self.x963 = x963
  }

  /// A key from the coordinates of its point.
  /// - Parameters:
  ///   - x: 32 bytes, big-endian (RFC 7518 section 6.2.1.2).
  ///   - y: 32 bytes, big-endian.
  /// - Throws: for another length, and for a point that is not on the curve.
  package init(x: [UInt8], y: [UInt8]) throws(CryptographyError) {
    guard x.count == P256.coordinateByteCount, y.count == P256.coordinateByteCount else {
      throw CryptographyError(Self.operation, "coordinates of \(x.count) and \(y.count) bytes instead of 32")
    }
    try self.init(x963: [4] + x + y)
  }

  /// Reads the first public key of a PEM text (`PUBLIC KEY`, RFC 5280 section 4.1.2.7).
  /// - Throws: for a text without a public key, and for a key of another algorithm or curve or with explicit curve
  ///   parameters.
  package init(pem: String) throws(CryptographyError) {
    let read = try KeyHandle(pem: pem, Self.operation) { PEM_read_bio_PUBKEY($0, nil, nil, nil) }
    try P256.requireCurve(of: read, Self.operation)
    guard let point = P256.point(of: read) else { throw CryptographyError(Self.operation, "no point") }
    try self.init(x963: point)
  }

  /// The key as PEM text (`PUBLIC KEY`). The same for equal keys.
  package var pem: String { MemoryBIO.text { PEM_write_bio_PUBKEY($0, key.pointer) } }

  /// Whether this key's private half signed the message with ECDSA and SHA-256 (FIPS 186-5 section 6.4). Takes 45 µs.
  package func verifies(_ signature: ES256Signature, of message: [UInt8]) -> Bool {
    key.verifies(signature.der, of: message)
  }

  package static func == (one: P256PublicKey, other: P256PublicKey) -> Bool { one.x963 == other.x963 }

  package func hash(into hasher: inout Hasher) { hasher.combine(x963) }
}

/// An ECDSA signature on P-256: two integers, r and s.
/// A value can hold any integers of 32 bytes. Those outside the curve's range verify no message.
package struct ES256Signature: Equatable, Sendable {
  private static let integerByteCount = 32

  /// The fixed form (RFC 7518 section 3.4): r and s, 32 bytes each, big-endian.
  package let raw: [UInt8]

  /// Reads the fixed form.
  /// - Returns: nil unless there are exactly 64 bytes.
  package init?(raw: [UInt8]) {
    guard raw.count == 2 * Self.integerByteCount else { return nil }
    self.raw = raw
  }

  /// Reads the form of X.509 and most libraries: `ECDSA-Sig-Value` of RFC 3279 section 2.2.3 in DER.
  /// - Returns: nil for other encodings of the same integers, for bytes after the signature, and for integers that are
  ///   negative or longer than 32 bytes.
  package init?(der: [UInt8]) {
    guard let raw = Self.raw(der: der) else { return nil }
    self.raw = raw
    // OpenSSL accepts long forms of lengths. DER has one encoding of each value, so it must be this one.
    guard self.der == der else { return nil }
  }

  /// The form that ``init(der:)`` reads: 8 to 72 bytes.
  package var der: [UInt8] {
    let signature = OpenSSL.require(ECDSA_SIG_new(), "ECDSA_SIG_new")
    defer { ECDSA_SIG_free(signature) }
    // The signature takes the integers over.
    let r = BigEndian.number(raw[..<Self.integerByteCount])
    let s = BigEndian.number(raw[Self.integerByteCount...])
    OpenSSL.require(ECDSA_SIG_set0(signature, r, s), "ECDSA_SIG_set0")
    return [UInt8](unsafeUninitializedCapacity: Int(i2d_ECDSA_SIG(signature, nil))) { output, count in
      var end = output.baseAddress
      count = Int(i2d_ECDSA_SIG(signature, &end))
    }
  }

  private static func raw(der: [UInt8]) -> [UInt8]? {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    return der.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      guard let signature = d2i_ECDSA_SIG(nil, &start, bytes.count) else { return nil }
      defer { ECDSA_SIG_free(signature) }
      guard let r = BigEndian.bytes(of: ECDSA_SIG_get0_r(signature), byteCount: integerByteCount),
        let s = BigEndian.bytes(of: ECDSA_SIG_get0_s(signature), byteCount: integerByteCount)
      else { return nil }
      return r + s
    }
  }
}

/// What P-256 keys have in common: the curve that OpenSSL calls `prime256v1` and FIPS 186-5 P-256.
package enum P256 {
  static let coordinateByteCount = 32
  static let pointByteCount = 65
  /// The curve without a key. New keys copy it, which takes a third of the time of a look-up by name.
  private static let parameters = KeyHandle(makeParameters())

  package static func generate() -> KeyHandle {
    KeyHandle.generate(EVP_PKEY_CTX_new_from_pkey(nil, parameters.pointer, nil))
  }

  /// The public key of an uncompressed point (SEC 1 section 2.3.3), which must be on the curve.
  /// The curve has no subgroups (its cofactor is 1), so a point on it needs no further check.
  static func publicKey(_ point: [UInt8], _ operation: String) throws(CryptographyError) -> KeyHandle {
    guard point.count == pointByteCount, point[0] == 4 else {
      throw CryptographyError(operation, "not an uncompressed point of 65 bytes")
    }
    return try ErrorQueue.checked(operation) {
      let key = KeyHandle(OpenSSL.require(EVP_PKEY_new(), "EVP_PKEY_new"))
      OpenSSL.require(EVP_PKEY_copy_parameters(key.pointer, parameters.pointer), "EVP_PKEY_copy_parameters")
      return EVP_PKEY_set1_encoded_public_key(key.pointer, point, point.count) == 1 ? key : nil
    }
  }

  /// The private key of a scalar of 32 bytes. OpenSSL computes the point.
  /// The scalar is not checked: ``check(_:_:)`` does that.
  static func privateKey(_ scalar: [UInt8], _ operation: String) throws(CryptographyError) -> KeyHandle {
    guard scalar.count == coordinateByteCount else {
      throw CryptographyError(operation, "scalar of \(scalar.count) bytes instead of \(coordinateByteCount)")
    }
    var der = derBeforeScalar + scalar + derAfterScalar
    defer { OPENSSL_cleanse(&der, der.count) }
    let key = try ErrorQueue.checked(operation) {
      der.withUnsafeBufferPointer { bytes in
        var start = bytes.baseAddress
        return d2i_PrivateKey(EVP_PKEY_EC, nil, &start, bytes.count)
      }
    }
    // Without this, OpenSSL writes the key as it was read: without the point.
    OpenSSL.require(EVP_PKEY_set_int_param(key, OSSL_PKEY_PARAM_EC_INCLUDE_PUBLIC, 1), "EVP_PKEY_set_int_param")
    return KeyHandle(key)
  }

  /// The uncompressed point of a key, however its text encoded it. Nil for the point at infinity, which has one byte.
  static func point(of key: KeyHandle) -> [UInt8]? {
    let point = [UInt8](unsafeUninitializedCapacity: pointByteCount) { output, count in
      var length = 0
      let status = EVP_PKEY_get_octet_string_param(
        key.pointer, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, output.baseAddress, pointByteCount, &length)
      count = status == 1 && length == pointByteCount ? length : 0
    }
    return point.isEmpty ? nil : point
  }

  /// Refuses keys of other algorithms and other curves, and keys with explicit curve parameters, which RFC 5480
  /// section 2.1.1 forbids.
  static func requireCurve(of key: KeyHandle, _ operation: String) throws(CryptographyError) {
    var isExplicit: Int32 = 0
    EVP_PKEY_get_int_param(key.pointer, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isExplicit)
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer -> String? in
      guard EVP_PKEY_get_group_name(key.pointer, buffer.baseAddress, buffer.count, nil) == 1 else { return nil }
      return buffer.baseAddress.map { String(cString: $0) }
    }
    ErrorQueue.clear()
    guard EVP_PKEY_is_a(key.pointer, "EC") == 1, name == SN_X9_62_prime256v1, isExplicit == 0 else {
      throw CryptographyError(operation, "not a key on the named curve P-256")
    }
  }

  /// Refuses a private key whose scalar is outside `1..<n`, or whose point belongs to another scalar.
  static func check(_ key: KeyHandle, _ operation: String) throws(CryptographyError) {
    try ErrorQueue.checked(operation) {
      let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)
      defer { EVP_PKEY_CTX_free(context) }
      return EVP_PKEY_check(context) == 1 ? () : nil
    }
  }

  private static func makeParameters() -> OpaquePointer {
    let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(context) }
    OpenSSL.require(EVP_PKEY_paramgen_init(context), "EVP_PKEY_paramgen_init")
    OpenSSL.require(EVP_PKEY_CTX_set_group_name(context, SN_X9_62_prime256v1), "EVP_PKEY_CTX_set_group_name")
    var parameters: OpaquePointer?
    OpenSSL.require(EVP_PKEY_paramgen(context, &parameters), "EVP_PKEY_paramgen")
    return OpenSSL.require(parameters, "EVP_PKEY_paramgen")
  }

  /// The start of `ECPrivateKey` (RFC 5915 section 3): version 1, and the header of an octet string of 32 bytes.
  private static let derBeforeScalar: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
  /// The end: the object identifier of the curve, 1.2.840.10045.3.1.7. The optional public key is left out.
  private static let derAfterScalar: [UInt8] = [
    0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
  ]
}
