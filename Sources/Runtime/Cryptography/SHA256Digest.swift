internal import COpenSSL

/// A SHA-256 digest or an HMAC-SHA-256 code: 32 bytes, stored inline.
///
/// `==` takes the same time for all pairs, so it can compare secrets.
package struct SHA256Digest: Hashable, Sendable {
  package static let byteCount = 32

  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// - Parameter write: writes all 32 bytes.
  init(_ write: (UnsafeMutableRawBufferPointer) -> Void) {
    Swift.withUnsafeMutableBytes(of: &words, write)
  }

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

  package func hash(into hasher: inout Hasher) {
    withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}
