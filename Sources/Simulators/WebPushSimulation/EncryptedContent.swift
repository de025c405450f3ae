internal import Cryptography

/// Content in the coding `aes128gcm` (RFC 8188), of any number of records.
package struct EncryptedContent: Equatable, Sendable {
  /// 16 bytes.
  package let salt: [UInt8]
  /// The size of every record except the last, in bytes; at least 18.
  package let recordBytes: Int
  /// Names the key; up to 255 bytes.
  package let keyIdentifier: [UInt8]
  /// The records, in order, at least one.
  let records: [[UInt8]]

  private static let tagBytes = 16
  /// A record holds at least its delimiter and its tag.
  private static let recordBytesMin = 18

  /// Reads the header (section 2.1) and divides the rest into records.
  /// - Throws: ``ContentFault`` for a header that is cut off, a record size below 18, and content without a record.
  package init(_ bytes: [UInt8]) throws(ContentFault) {
    guard bytes.count >= 21 else { throw .headerCutOff }
    salt = Array(bytes[..<16])
    let size = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let start = 21 + Int(bytes[20])
    guard bytes.count >= start else { throw .headerCutOff }
    keyIdentifier = Array(bytes[21..<start])
    guard size >= Self.recordBytesMin else { throw .recordSizeTooSmall }
    guard bytes.count > start else { throw .noRecord }
    recordBytes = size
    records = stride(from: start, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  /// Decrypts all records.
  /// - Parameter key: the input keying material.
  /// - Returns: the content without padding, and how many bytes of padding it had.
  /// - Throws: ``ContentFault`` for a record that is too short or not authentic, or has the wrong delimiter.
  package func open(with key: [UInt8]) throws(ContentFault) -> (content: [UInt8], paddingBytes: Int) {
    let contentKey = AES128GCM(
      key: HKDFSHA256.derive(
        from: key, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), byteCount: 16))
    let nonce = HKDFSHA256.derive(
      from: key, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), byteCount: 12)
    var content: [UInt8] = []
    var paddingBytes = 0
    for (number, record) in records.enumerated() {
      let plain = contentKey.open(record, nonce: Self.nonce(nonce, number))
      guard record.count > Self.tagBytes, let plain else { throw .notAuthentic }
      let delimiter: UInt8 = number == records.count - 1 ? 2 : 1
      guard let end = plain.lastIndex(where: { $0 != 0 }), plain[end] == delimiter else { throw .wrongDelimiter }
      content += plain[..<end]
      paddingBytes += plain.count - end - 1
    }
    return (content, paddingBytes)
  }

  /// The nonce of a record: the last bytes combined with its number (section 2.3).
  private static func nonce(_ base: [UInt8], _ number: Int) -> [UInt8] {
    var nonce = base
    for place in 0..<8 { nonce[11 - place] ^= UInt8(truncatingIfNeeded: number >> (8 * place)) }
    return nonce
  }
}

/// Why content cannot be decrypted. A browser drops such a push silently; the text is for the sender's developer.
package enum ContentFault: String, Error, Sendable {
  case headerCutOff = "the header is cut off"
  case recordSizeTooSmall = "the record size is less than 18"
  case noRecord = "no record follows the header"
  /// More than one record (RFC 8291 section 4).
  case tooManyRecords = "more than one record"
  /// The key identifier is not an uncompressed point on P-256.
  case keyMalformed = "the key identifier is not a point on P-256"
  /// A record is too short, or was encrypted otherwise: with another key, salt or secret.
  case notAuthentic = "a record is not authentic"
  case wrongDelimiter = "the delimiter of the padding is wrong"
}
