internal import COpenSSL

/// Authenticated encryption with AES in Galois/Counter Mode (NIST SP 800-38D).
///
/// Nonces have 12 bytes and tags 16. Two plaintexts sealed with one key and one nonce reveal each other and the
/// authentication key, so callers never repeat a nonce.
package struct AESGCM: Sendable {
  private static let nonceByteCount = 12
  private static let tagByteCount = 16

  private let key: SecretBytes

  /// Traps unless the key has 16 bytes, for AES-128, or 32, for AES-256.
  package init(key: [UInt8]) {
    precondition(key.count == 16 || key.count == 32, "AES key of \(key.count) bytes")
    self.key = SecretBytes(key)
  }

  /// Encrypts a plaintext, which may be empty. Traps unless the nonce has 12 bytes.
  /// - Parameter additionalData: authenticated with the plaintext, not part of the result.
  /// - Returns: the ciphertext, as long as the plaintext, and the tag of 16 bytes.
  package func seal(_ plaintext: [UInt8], nonce: [UInt8], additionalData: [UInt8] = []) -> [UInt8] {
    let context = start(encrypting: true, nonce: nonce, additionalData: additionalData)
    defer { EVP_CIPHER_CTX_free(context) }
    return [UInt8](unsafeUninitializedCapacity: plaintext.count + Self.tagByteCount) { output, count in
      plaintext.withUnsafeBufferPointer { Self.update(context, $0, into: output.baseAddress) }
      let tag = output.baseAddress.map { $0 + plaintext.count }
      OpenSSL.require(Self.finish(context), "EVP_CipherFinal_ex")
      OpenSSL.require(
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag), "EVP_CTRL_AEAD_GET_TAG")
      count = plaintext.count + Self.tagByteCount
    }
  }

  /// Decrypts what ``seal(_:nonce:additionalData:)`` returned. Traps unless the nonce has 12 bytes.
  /// - Returns: the plaintext, or nil when anything differs: key, nonce, additional data, ciphertext or tag. Input shorter
  ///   than a tag also returns nil.
  package func open(_ sealed: [UInt8], nonce: [UInt8], additionalData: [UInt8] = []) -> [UInt8]? {
    guard sealed.count >= Self.tagByteCount else { return nil }
    let context = start(encrypting: false, nonce: nonce, additionalData: additionalData)
    defer { EVP_CIPHER_CTX_free(context) }
    let length = sealed.count - Self.tagByteCount
    var tag = Array(sealed[length...])
    OpenSSL.require(
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag), "EVP_CTRL_AEAD_SET_TAG")
    var isAuthentic = false
    let plaintext = [UInt8](unsafeUninitializedCapacity: length) { output, count in
      sealed.withUnsafeBufferPointer {
        Self.update(context, UnsafeBufferPointer(rebasing: $0[..<length]), into: output.baseAddress)
      }
      isAuthentic = Self.finish(context) == 1
      count = length
    }
    ErrorQueue.clear()
    return isAuthentic ? plaintext : nil
  }

  private func start(encrypting: Bool, nonce: [UInt8], additionalData: [UInt8]) -> OpaquePointer {
    precondition(nonce.count == Self.nonceByteCount, "GCM nonce of \(nonce.count) bytes")
    ErrorQueue.clear()
    let context = OpenSSL.require(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
    let cipher = key.count == 16 ? OpenSSL.aes128GCM : OpenSSL.aes256GCM
    OpenSSL.require(
      EVP_CipherInit_ex2(context, cipher, key.start, nonce, encrypting ? 1 : 0, nil), "EVP_CipherInit_ex2")
    // Without an output, bytes are additional data.
    additionalData.withUnsafeBufferPointer { Self.update(context, $0, into: nil) }
    return context
  }

  private static func update(
    _ context: OpaquePointer, _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutablePointer<UInt8>?
  ) {
    guard !input.isEmpty else { return }
    var written: Int32 = 0
    OpenSSL.require(
      EVP_CipherUpdate(context, output, &written, input.baseAddress, Int32(input.count)), "EVP_CipherUpdate")
  }

  /// Counter mode holds no bytes back, so this writes only the tag into the context, or compares it: 1 for equal.
  private static func finish(_ context: OpaquePointer) -> Int32 {
    var unused: UInt8 = 0
    var written: Int32 = 0
    return EVP_CipherFinal_ex(context, &unused, &written)
  }
}

/// Owns a copy of a key, which `deinit` erases.
private final class SecretBytes: @unchecked Sendable {
  // Safe: nothing writes after `init`.
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  init(_ key: [UInt8]) {
    bytes = .allocate(capacity: key.count)
    _ = bytes.initialize(from: key)
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  var count: Int { bytes.count }

  var start: UnsafePointer<UInt8>? { UnsafePointer(bytes.baseAddress) }
}
