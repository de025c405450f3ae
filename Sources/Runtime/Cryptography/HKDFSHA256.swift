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
