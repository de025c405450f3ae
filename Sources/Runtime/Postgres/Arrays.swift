internal import FoundationEssentials
internal import Glibc

/// A one-dimensional array.
///
/// The binary form is the number of dimensions, a flag for nulls and the element type; for each dimension its length and lower
/// bound; then each element behind its length, −1 for a null (`array_send` in PostgreSQL's arrayfuncs.c).
extension Array: PostgresEncodable where Element: PostgresArrayElement {
  /// Sends the elements. An empty array has no dimension.
  ///
  /// Parameters are existentials, which the compiler does not specialize by itself. Specialization for the elements in the
  /// statements of every push saves two thirds of their cost.
  @specialized(where Element == Bool)
  @specialized(where Element == Int32)
  @specialized(where Element == Int64)
  @specialized(where Element == Int64?)
  @specialized(where Element == String)
  @specialized(where Element == String?)
  @specialized(where Element == UUID)
  @specialized(where Element == UUID?)
  package func encode(into encoder: inout PostgresParameterEncoder) {
    encoder.appendArray(count: count) { self[$0].encodeElement(as: $1, into: &$2) }
  }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
  /// Reads an array of at most one dimension with any lower bound.
  package init?(_ field: PostgresField) {
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

struct ArrayHeader {
  let element: PostgresType
  let count: Int
  let size: Int

  /// Appends all numbers at once, because a statement of twenty arrays has a hundred of them.
  static func append(_ element: PostgresType, count: Int, to bytes: inout [UInt8]) {
    let numbers = (
      Int32(count == 0 ? 0 : 1).bigEndian, Int32(1).bigEndian, element.oid.bigEndian, Int32(count).bigEndian,
      Int32(1).bigEndian
    )
    withUnsafeBytes(of: numbers) { numbers in
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: numbers.prefix(count == 0 ? 12 : 20)))
    }
  }

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let dimensions = bytes.bigEndian(Int32.self), let oid = bytes.bigEndian(UInt32.self, at: 8) else {
      return nil
    }
    element = PostgresType(oid: oid)
    switch dimensions {
    case 0: (count, size) = (0, 12)
    case 1:
      // Each element takes at least its length's four bytes, so a wrong count cannot reserve more than was sent.
      guard let length = bytes.bigEndian(Int32.self, at: 12).map(Int.init), length >= 0, length <= bytes.count / 4
      else { return nil }
      (count, size) = (length, 20)
    default: return nil
    }
  }
}

// The byte order of PostgreSQL's binary formats.
extension [UInt8] {
  mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Overwrites the four bytes at `index` with the length of what follows them.
  mutating func replaceLength(at index: Int, _ length: Int32) {
    withUnsafeMutableBytes { $0.storeBytes(of: length.bigEndian, toByteOffset: index, as: Int32.self) }
  }

  func hasZero(from index: Int) -> Bool {
    withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
      guard let start = rest.baseAddress else { return false }
      return memchr(start, 0, rest.count) != nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at `offset`; nil if the buffer is too short.
  func bigEndian<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int = 0) -> Number? {
    guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
    return Number(bigEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
