internal import COpenSSL

/// What P-256 keys have in common: the curve that OpenSSL calls `prime256v1` and FIPS 186-5 P-256.
package enum P256 {
  static let coordinateByteCount = 32
  static let pointByteCount = 65

  /// The curve without a key. New keys copy it, which takes a third of the time of a look-up by name.
  private static let parameters = KeyHandle(makeParameters())

  package static func generate() -> KeyHandle {
    let context = EVP_PKEY_CTX_new_from_pkey(nil, parameters.pointer, nil)
    defer { EVP_PKEY_CTX_free(context) }
    OpenSSL.require(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
    var key: OpaquePointer?
    OpenSSL.require(EVP_PKEY_generate(context, &key), "EVP_PKEY_generate")
    return KeyHandle(OpenSSL.require(key, "EVP_PKEY_generate"))
  }

  /// The public key of an uncompressed point (SEC 1 section 2.3.3), which must be on the curve.
  ///
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
  ///
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
