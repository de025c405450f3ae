internal import COpenSSL

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
  package static func hash(_ bytes: [UInt8]) -> SHA256Digest { bytes.withUnsafeBytes { hash($0) } }

  package static func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256Digest {
    SHA256Digest { digest(bytes, with: OpenSSL.sha256, into: $0) }
  }
}

/// The hash function SHA-1 (FIPS 180-4), only for version 5 UUIDs (RFC 9562 section 5.5).
/// Collisions can be computed, so nothing that protects data may use it.
package enum SHA1 {
  /// Calls `use` with the digest of the bytes: 20 bytes on the stack, which are valid only during the call.
  package static func hash<R>(_ bytes: UnsafeRawBufferPointer, _ use: (UnsafeRawBufferPointer) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: 20, alignment: 8) { output in
      digest(bytes, with: OpenSSL.sha1, into: output)
      return use(UnsafeRawBufferPointer(output))
    }
  }
}

/// One call with a fetched algorithm takes 0.13 µs for 100 bytes. A context per thread would save 0.02 µs.
private func digest(
  _ bytes: UnsafeRawBufferPointer, with algorithm: OpaquePointer, into output: UnsafeMutableRawBufferPointer
) {
  let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
  OpenSSL.require(EVP_Digest(bytes.baseAddress, bytes.count, start, nil, algorithm, nil), "EVP_Digest")
}

/// A SHA-256 digest or an HMAC-SHA-256 code: 32 bytes, stored inline.
/// `==` takes the same time for all pairs, so it can compare secrets.
package struct SHA256Digest: Hashable, Sendable {
  package static let byteCount = 32

  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// - Parameter write: writes all 32 bytes.
  init(_ write: (UnsafeMutableRawBufferPointer) -> Void) { Swift.withUnsafeMutableBytes(of: &words, write) }

  /// A digest that was computed elsewhere; nil for another length.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init { $0.copyBytes(from: bytes) }
  }

  /// Calls `body` with the 32 bytes, which are valid only during the call.
  package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try Swift.withUnsafeBytes(of: words, body)
  }

  package var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  /// The first bytes as lower-case hexadecimal digits.
  /// - Parameter count: how many bytes to write, in `0...32`. Each takes two digits.
  package func hexadecimal(bytes count: Int = 32) -> String {
    withUnsafeBytes { bytes in
      String(unsafeUninitializedCapacity: 2 * count) { digits in
        for index in 0..<count {
          digits[2 * index] = Self.digit(bytes[index] >> 4)
          digits[2 * index + 1] = Self.digit(bytes[index] & 15)
        }
        return 2 * count
      }
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// Compares all bytes, in constant time.
  package static func == (one: SHA256Digest, other: SHA256Digest) -> Bool {
    one.withUnsafeBytes { one in
      other.withUnsafeBytes { CRYPTO_memcmp(one.baseAddress, $0.baseAddress, byteCount) == 0 }
    }
  }

  package func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}

/// Message authentication codes with SHA-256 and one key (RFC 2104, FIPS 198-1).
/// The two blocks of the key are hashed once, by `init`. A code for 100 bytes then takes 0.4 µs.
package struct HMACSHA256: Sendable {
  private let keyed: KeyedContext

  /// Codes with a key of any length. Keys shorter than 32 bytes weaken the codes (RFC 2104 section 3).
  package init(key: [UInt8]) { keyed = KeyedContext(key: key) }

  package func code(for message: [UInt8]) -> SHA256Digest {
    let context = OpenSSL.require(EVP_MAC_CTX_dup(keyed.pointer), "EVP_MAC_CTX_dup")
    defer { EVP_MAC_CTX_free(context) }
    OpenSSL.require(EVP_MAC_update(context, message, message.count), "EVP_MAC_update")
    return SHA256Digest { output in
      let start = output.assumingMemoryBound(to: UInt8.self).baseAddress
      OpenSSL.require(EVP_MAC_final(context, start, nil, output.count), "EVP_MAC_final")
    }
  }

  /// Whether a code belongs to a message. Compares in constant time.
  /// - Parameter code: all 32 bytes. A code of another length is not valid.
  package func isValid(_ code: [UInt8], for message: [UInt8]) -> Bool {
    guard code.count == SHA256Digest.byteCount else { return false }
    return self.code(for: message).withUnsafeBytes { CRYPTO_memcmp($0.baseAddress, code, code.count) == 0 }
  }
}

/// Owns an HMAC context that has taken in the key and no message.
private final class KeyedContext: @unchecked Sendable {
  // Safe: after `init` threads only copy the context, which reads it.
  let pointer: OpaquePointer

  init(key: [UInt8]) {
    pointer = OpenSSL.require(EVP_MAC_CTX_new(OpenSSL.hmac), "EVP_MAC_CTX_new")
    // OpenSSL keeps the key that a context has when the pointer is null, so an empty key needs an address too.
    let status = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, key.count)) { copy in
      _ = copy.initialize(from: key)
      defer { OPENSSL_cleanse(copy.baseAddress, copy.count) }
      return copenssl_start_hmac_sha256(pointer, copy.baseAddress, key.count)
    }
    OpenSSL.require(status, "EVP_MAC_init")
  }

  deinit { EVP_MAC_CTX_free(pointer) }
}

/// Keys from a shared secret: HKDF with SHA-256 (RFC 5869).
package enum HKDFSHA256 {
  /// The longest output (RFC 5869 section 2.3): a block counter has one byte.
  private static let byteCountMax = 255 * SHA256Digest.byteCount

  /// Derives key material.
  /// - Parameters:
  ///   - secret: the input keying material, of any length.
  ///   - salt: random and not secret. Empty means 32 zero bytes.
  ///   - info: binds the output to its purpose. May be empty.
  ///   - byteCount: the length of the output, in `0...8160`. Traps outside.
  /// - Returns: `byteCount` bytes. A shorter output is a prefix of a longer one.
  package static func derive(
    from secret: [UInt8], salt: [UInt8] = [], info: [UInt8], byteCount: Int
  ) -> [UInt8] {
    precondition((0...byteCountMax).contains(byteCount), "HKDF of \(byteCount) bytes")
    let expansion = HMACSHA256(key: HMACSHA256(key: salt).code(for: secret).bytes)
    var output: [UInt8] = []
    var block: [UInt8] = []
    var counter: UInt8 = 0
    while output.count < byteCount {
      counter += 1
      block = expansion.code(for: block + info + [counter]).bytes
      output += block
    }
    return Array(output.prefix(byteCount))
  }
}
