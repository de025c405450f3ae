// The byte order of every number in PostgreSQL's binary formats.
extension [UInt8] {
  mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Overwrites the four bytes at `index`, once what they count has been appended.
  mutating func replaceLength(at index: Int, _ length: Int32) {
    Swift.withUnsafeBytes(of: length.bigEndian) { replaceSubrange(index..<index + 4, with: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at `offset`; nil when the buffer ends before it does.
  func bigEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int = 0) -> Number? {
    guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
    return Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
