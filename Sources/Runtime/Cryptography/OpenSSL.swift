internal import COpenSSL

/// The algorithms of OpenSSL's default provider, and traps for calls that fail only without memory.
/// Each algorithm is fetched once: a fetch by name takes longer than a digest of 100 bytes.
enum OpenSSL {
  // Safe: a fetched algorithm never changes, and these are never freed.
  nonisolated(unsafe) static let sha1 = require(EVP_MD_fetch(nil, "SHA1", nil), "EVP_MD_fetch SHA1")
  // Safe for the same reason.
  nonisolated(unsafe) static let sha256 = require(EVP_MD_fetch(nil, "SHA256", nil), "EVP_MD_fetch SHA256")
  // Safe for the same reason.
  nonisolated(unsafe) static let hmac = require(EVP_MAC_fetch(nil, "HMAC", nil), "EVP_MAC_fetch HMAC")
  // Safe for the same reason.
  nonisolated(unsafe) static let aes128GCM = require(
    EVP_CIPHER_fetch(nil, "AES-128-GCM", nil), "EVP_CIPHER_fetch AES-128-GCM")
  // Safe for the same reason.
  nonisolated(unsafe) static let aes256GCM = require(
    EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), "EVP_CIPHER_fetch AES-256-GCM")

  /// Traps unless the call returned an object.
  static func require(_ object: OpaquePointer?, _ call: StaticString) -> OpaquePointer {
    guard let object else { preconditionFailure("\(call): \(ErrorQueue.drain().text)") }
    return object
  }

  /// Traps unless the call returned 1.
  static func require(_ status: Int32, _ call: StaticString) {
    guard status == 1 else { preconditionFailure("\(call): \(ErrorQueue.drain().text)") }
  }
}

/// OpenSSL's error queue, one per thread.
/// OpenSSL takes an entry that an earlier call left for the next call's failure. So every call that can fail starts from an
/// empty queue, and empties it afterwards.
package enum ErrorQueue {
  package struct Content: Sendable {
    /// OpenSSL's text, several entries joined by `; `. Empty for an empty queue. Holds no keys and no messages.
    package var text = ""
    /// Reason numbers, oldest first.
    package var reasons: [Int32] = []
  }

  /// The most entries that OpenSSL keeps (`ERR_NUM_ERRORS`).
  private static let entriesMax = 16

  /// Empties the queue of the calling thread.
  package static func clear() { ERR_clear_error() }

  package static func drain() -> Content {
    var content = Content()
    for _ in 0..<entriesMax {
      let code = ERR_get_error()
      guard code != 0 else { break }
      content.reasons.append(ERR_GET_REASON(code))
      content.text += content.text.isEmpty ? text(of: code) : "; " + text(of: code)
    }
    return content
  }

  /// Runs an operation that can fail, between two empty queues.
  /// - Throws: OpenSSL's text when `body` returns nil.
  package static func checked<Result>(
    _ operation: String, _ body: () -> Result?
  ) throws(CryptographyError) -> Result {
    clear()
    guard let result = body() else { throw CryptographyError(operation, drain().text) }
    clear()
    return result
  }

  private static func text(of code: UInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      ERR_error_string_n(code, base, buffer.count)
      return String(cString: base)
    }
  }
}

/// A refused key, or a failed operation with a key.
/// Holds no secret: the texts are constants of this module and of OpenSSL.
package struct CryptographyError: Error, Equatable, Sendable, CustomStringConvertible {
  package let operation: String
  /// Why it failed. OpenSSL's text has several entries, joined by `; `, and is empty when OpenSSL gave no reason.
  package let message: String

  package init(_ operation: String, _ message: String) {
    self.operation = operation
    self.message = message
  }

  package var description: String { message.isEmpty ? "\(operation) failed" : "\(operation) failed (\(message))" }
}

/// PEM text to and from OpenSSL's memory buffers.
package enum MemoryBIO {
  /// The text that a PEM writer produces.
  /// Traps when the writer fails, which it does only without memory.
  /// - Parameter write: calls one `PEM_write_bio_…` function and returns its result, 1 for success.
  package static func text(_ write: (OpaquePointer?) -> Int32) -> String {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free_all(memory) }
    OpenSSL.require(write(memory), "PEM_write_bio")
    var start: UnsafeMutablePointer<CChar>?
    let length = copenssl_memory_contents(memory, &start)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
  }

  /// A buffer to read a copy of the text from. The caller frees it with `BIO_free_all`, which also erases the copy.
  package static func reading(_ text: String) -> OpaquePointer? {
    let memory = BIO_new(BIO_s_mem())
    var text = text
    text.withUTF8 { _ = BIO_write(memory, $0.baseAddress, Int32($0.count)) }
    return memory
  }
}

/// Owns an OpenSSL key (`EVP_PKEY`): private, public, or only the parameters of a curve.
package final class KeyHandle: @unchecked Sendable {
  // Safe: nothing changes a key after it was made. OpenSSL counts references atomically, locks its own caches, and lets
  // several threads sign, verify and derive with one key. Each operation here has a separate context.
  package let pointer: OpaquePointer

  /// Takes the key over: `deinit` frees it.
  package init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// A new random key.
  /// - Parameter context: of an algorithm or of a key with its parameters. Freed.
  static func generate(_ context: OpaquePointer?, _ prepare: (OpaquePointer?) -> Void = { _ in }) -> KeyHandle {
    defer { EVP_PKEY_CTX_free(context) }
    OpenSSL.require(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
    prepare(context)
    var key: OpaquePointer?
    OpenSSL.require(EVP_PKEY_generate(context, &key), "EVP_PKEY_generate")
    return KeyHandle(OpenSSL.require(key, "EVP_PKEY_generate"))
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
