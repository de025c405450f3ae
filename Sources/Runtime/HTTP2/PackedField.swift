/// One field where it lies in a list's memory.
struct PackedField {
  let name: UnsafeRawBufferPointer
  let value: UnsafeRawBufferPointer
  let isIndexed: Bool
}

extension PackedField {
  /// - Parameter offset: of the field's head; moved behind the field.
  init(in packed: UnsafeRawBufferPointer, at offset: inout Int) {
    let nameHead = packed.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let nameEnd = offset + HTTP2Fields.headBytes + Int(nameHead & ~HTTP2Fields.neverIndexedBit)
    let valueEnd = nameEnd + Int(packed.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
    name = UnsafeRawBufferPointer(rebasing: packed[(offset + HTTP2Fields.headBytes)..<nameEnd])
    value = UnsafeRawBufferPointer(rebasing: packed[nameEnd..<valueEnd])
    isIndexed = nameHead & HTTP2Fields.neverIndexedBit == 0
    offset = valueEnd
  }

  func isNamed(_ other: RawSpan) -> Bool {
    name.count == other.byteCount && other.withUnsafeBytes(name.elementsEqual)
  }

  /// - Parameter place: with room for the field and its head.
  static func write(_ name: RawSpan, _ value: RawSpan, isIndexed: Bool, to place: UnsafeMutableRawPointer) {
    let nameHead = UInt32(truncatingIfNeeded: name.byteCount) | (isIndexed ? 0 : HTTP2Fields.neverIndexedBit)
    place.storeBytes(of: nameHead, as: UInt32.self)
    place.storeBytes(of: UInt32(truncatingIfNeeded: value.byteCount), toByteOffset: 4, as: UInt32.self)
    copy(name, to: place + HTTP2Fields.headBytes)
    copy(value, to: place + HTTP2Fields.headBytes + name.byteCount)
  }

  private static func copy(_ bytes: RawSpan, to place: UnsafeMutableRawPointer) {
    bytes.withUnsafeBytes { bytes in
      if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
    }
  }
}
