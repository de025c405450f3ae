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

  /// - Parameter place: exactly as large as the field with its head.
  func write(to place: UnsafeMutableRawBufferPointer) {
    let nameHead = UInt32(truncatingIfNeeded: name.count) | (isIndexed ? 0 : HTTP2Fields.neverIndexedBit)
    place.storeBytes(of: nameHead, as: UInt32.self)
    place.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: 4, as: UInt32.self)
    let nameEnd = HTTP2Fields.headBytes + name.count
    UnsafeMutableRawBufferPointer(rebasing: place[HTTP2Fields.headBytes..<nameEnd]).copyMemory(from: name)
    UnsafeMutableRawBufferPointer(rebasing: place[nameEnd...]).copyMemory(from: value)
  }
}
