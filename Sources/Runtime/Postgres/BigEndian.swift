internal import Glibc

// The byte order of every number in PostgreSQL's binary formats.
extension [UInt8] {
  mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Overwrites the four bytes at `index`, once what they count has been appended.
  mutating func replaceLength(at index: Int, _ length: Int32) {
    withUnsafeMutableBytes { $0.storeBytes(of: length.bigEndian, toByteOffset: index, as: Int32.self) }
  }

  /// Whether any byte from `index` on is zero.
  func hasZero(from index: Int) -> Bool {
    withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
      guard let start = rest.baseAddress else { return false }
      return memchr(start, 0, rest.count) != nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at `offset`; nil when the buffer ends before it does.
  func bigEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int = 0) -> Number? {
    guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
    return Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
