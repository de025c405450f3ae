internal import COpenSSL

/// Owns an OpenSSL key (`EVP_PKEY`): private, public, or only the parameters of a curve.
package final class KeyHandle: @unchecked Sendable {
  // Safe: nothing changes a key after it was made. OpenSSL counts references atomically, locks its own caches, and lets
  // several threads sign, verify and derive with one key. Each operation here has a separate context.
  package let pointer: OpaquePointer

  /// Takes the key over: `deinit` frees it.
  package init(_ pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    EVP_PKEY_free(pointer)
  }

  /// Reads the first key of a PEM text.
  convenience init(pem: String, _ operation: String, _ read: (OpaquePointer?) -> OpaquePointer?)
    throws(CryptographyError)
  {
    let key = try ErrorQueue.checked(operation) {
      let source = MemoryBIO.reading(pem)
      defer { BIO_free_all(source) }
      return read(source)
    }
    self.init(key)
  }

  /// Signs with SHA-256: a DER signature for an elliptic curve, PKCS #1 version 1.5 for RSA.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try ErrorQueue.checked("signature") {
      let context = EVP_MD_CTX_new()
      defer { EVP_MD_CTX_free(context) }
      guard EVP_DigestSignInit(context, nil, OpenSSL.sha256, nil, pointer) == 1 else { return nil }
      return bytes(max: Int(EVP_PKEY_get_size(pointer))) {
        EVP_DigestSign(context, $0, &$1, message, message.count)
      }
    }
  }

  /// Whether a signature as of ``sign(_:)`` belongs to the message and this key.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let context = OpenSSL.require(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
    defer { EVP_MD_CTX_free(context) }
    OpenSSL.require(EVP_DigestVerifyInit(context, nil, OpenSSL.sha256, nil, pointer), "EVP_DigestVerifyInit")
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  func sharedSecret(with peer: KeyHandle) throws(CryptographyError) -> [UInt8] {
    try ErrorQueue.checked("shared secret") {
      let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil)
      defer { EVP_PKEY_CTX_free(context) }
      // 0: the peer's key was validated when it was made. A second validation would double the time.
      guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer_ex(context, peer.pointer, 0) == 1 else {
        return nil
      }
      return bytes(max: P256.coordinateByteCount) { EVP_PKEY_derive(context, $0, &$1) }
    }
  }

  /// An integer of the key, as big-endian bytes.
  /// - Returns: nil when the key has no such integer or it is longer than `byteCount`.
  package func integer(_ name: String, byteCount: Int) -> [UInt8]? {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return nil }
    defer { BN_clear_free(number) }
    return BigEndian.bytes(of: number, byteCount: byteCount)
  }

  private func bytes(max: Int, _ write: (UnsafeMutablePointer<UInt8>?, inout Int) -> Int32) -> [UInt8]? {
    var isWritten = false
    let bytes = [UInt8](unsafeUninitializedCapacity: max) { output, count in
      count = max
      isWritten = write(output.baseAddress, &count) == 1
      if !isWritten { count = 0 }
    }
    return isWritten ? bytes : nil
  }
}

/// OpenSSL's integers (`BIGNUM`) as big-endian bytes.
enum BigEndian {
  /// The bytes of an integer that is not negative.
  /// - Returns: `byteCount` bytes with leading zeros, or nil for a larger integer.
  static func bytes(of number: OpaquePointer?, byteCount: Int) -> [UInt8]? {
    var length: Int32 = -1
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
      length = BN_bn2binpad(number, output.baseAddress, Int32(byteCount))
      count = Int(max(0, length))
    }
    return length < 0 ? nil : bytes
  }

  /// A new integer, which the caller frees or hands over.
  static func number(_ bytes: some Collection<UInt8>) -> OpaquePointer {
    let bytes = Array(bytes)
    return OpenSSL.require(BN_bin2bn(bytes, Int32(bytes.count), nil), "BN_bin2bn")
  }
}
