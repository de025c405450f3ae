/// A one-dimensional array.
///
/// The binary form: number of dimensions, whether there are nulls, element type; then for each dimension its length
/// and lower bound; then each element with its length in front, −1 for a null (`array_send` in PostgreSQL's arrayfuncs.c).
extension Array: PostgresEncodable where Element: PostgresArrayElement {
  /// Sends the elements; an empty array has no dimension.
  public func encode(into encoder: inout PostgresParameterEncoder) {
    encoder.appendBinary { type, bytes in
      guard let element = type.element else { return false }
      bytes.appendBigEndian(Int32(isEmpty ? 0 : 1))
      bytes.appendBigEndian(Int32(1))
      bytes.appendBigEndian(element.oid)
      if isEmpty { return true }
      bytes.appendBigEndian(Int32(count))
      bytes.appendBigEndian(Int32(1))
      return allSatisfy { $0.encodeElement(as: element, into: &bytes) }
    }
  }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
  /// Reads an array of at most one dimension, whatever its lower bound.
  public init?(_ field: PostgresField) {
    guard let bytes = field.bytes, let header = ArrayHeader(bytes) else { return nil }
    self.init()
    reserveCapacity(header.count)
    var offset = header.size
    for _ in 0..<header.count {
      guard let length = bytes.bigEndian(Int32.self, at: offset).map(Int.init), length <= bytes.count - offset - 4,
        let element = Element.decodeElement(
          length < 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + length)]),
          type: header.element)
      else { return nil }
      append(element)
      offset += 4 + Swift.max(length, 0)
    }
  }
}

private struct ArrayHeader {
  let element: PostgresType
  let count: Int
  let size: Int

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let dimensions = bytes.bigEndian(Int32.self), let oid = bytes.bigEndian(UInt32.self, at: 8) else {
      return nil
    }
    element = PostgresType(oid: oid)
    switch dimensions {
    case 0: (count, size) = (0, 12)
    case 1:
      // Each element has at least its length, so the announced count cannot make us reserve more than was sent.
      guard let length = bytes.bigEndian(Int32.self, at: 12).map(Int.init), length >= 0, length <= bytes.count / 4
      else { return nil }
      (count, size) = (length, 20)
    default: return nil
    }
  }
}
