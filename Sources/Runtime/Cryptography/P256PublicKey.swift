internal import COpenSSL

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
  package var pem: String {
    MemoryBIO.text { PEM_write_bio_PUBKEY($0, key.pointer) }
  }

  /// Whether this key's private half signed the message with ECDSA and SHA-256 (FIPS 186-5 section 6.4). Takes 45 µs.
  package func verifies(_ signature: ES256Signature, of message: [UInt8]) -> Bool {
    key.verifies(signature.der, of: message)
  }

  package static func == (one: P256PublicKey, other: P256PublicKey) -> Bool { one.x963 == other.x963 }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(x963)
  }
}
