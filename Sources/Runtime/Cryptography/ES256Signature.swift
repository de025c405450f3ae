internal import COpenSSL

/// An ECDSA signature on P-256: two integers, r and s.
///
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
