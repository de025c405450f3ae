/// One header field. Names are lower-case in HTTP/2 (RFC 9113 §8.2).
package struct HTTP2Field: Equatable, Sendable {
  package let name: String
  /// The value. Bytes that are not UTF-8 are replaced.
  package let value: String
}

/// Header fields in order, with duplicates, packed into one allocation. Pseudo-header fields (`:path`) are not among them.
///
/// A prepared list can be copied and extended for each message.
package struct HTTP2Fields: Sendable {
  // For each field: UInt32 name length, with `neverIndexedBit`; UInt32 value length; name; value. Zeros follow the last.
  // A `ContiguousArray`, because making an `Array` calls into the standard library, which looks up the type each time.
  private var storage: ContiguousArray<UInt8> = []

  /// Bytes used, for limits.
  private(set) var byteCount = 0

  package private(set) var count = 0

  static let neverIndexedBit: UInt32 = 1 << 31
  static let headBytes = 8

  /// The smallest allocation. It holds the fields of most answers.
  private static let storageBytesMin = 256

  package init() {}

  /// An empty list with reserved space.
  /// - Parameter byteCount: the bytes of names and values, and 8 for each field.
  package init(reservingBytes byteCount: Int) {
    storage = ContiguousArray(repeating: 0, count: byteCount)
  }

  /// Adds a field at the end.
  /// - Parameters:
  ///   - name: lower-case.
  ///   - isIndexed: false keeps the value out of header compression's tables on every hop. Use it for secrets, and for values
  ///     that never repeat and would displace useful entries. `authorization` is never indexed.
  package mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
    let isIndexed = isIndexed && name != "authorization"
    append(name.utf8Span.span.bytes, value.utf8Span.span.bytes, isIndexed: isIndexed)
  }

  /// The first value of a name; nil without the field.
  package subscript(name: String) -> String? {
    let name = name.utf8Span.span.bytes
    return withPackedBytes { packed in
      var offset = 0
      while offset < packed.count {
        let field = PackedField(in: packed, at: &offset)
        if field.isNamed(name) { return String(decoding: field.value, as: UTF8.self) }
      }
      return nil
    }
  }

  mutating func append(_ name: RawSpan, _ value: RawSpan, isIndexed: Bool) {
    let end = byteCount + HTTP2Fields.headBytes + name.byteCount + value.byteCount
    if end > storage.count { grow(to: end) }
    storage.withUnsafeMutableBytes { storage in
      // The list has room for the field, and so an address.
      guard let list = storage.baseAddress else { return }
      PackedField.write(name, value, isIndexed: isIndexed, to: list + byteCount)
    }
    byteCount = end
    count += 1
  }

  mutating func removeAll() {
    byteCount = 0
    count = 0
  }

  /// The fields as ``PackedField`` reads them.
  func withPackedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
  }

  /// Grows to at least twice the size, so that a list of many fields is copied only a few times.
  private mutating func grow(to needed: Int) {
    let size = Swift.max(needed, 2 * storage.count, HTTP2Fields.storageBytesMin)
    var larger = ContiguousArray<UInt8>(repeating: 0, count: size)
    larger.withUnsafeMutableBytes { larger in withPackedBytes { larger.copyMemory(from: $0) } }
    storage = larger
  }
}

extension HTTP2Fields: Equatable {
  /// Same fields, in the same order, indexed alike.
  package static func == (a: HTTP2Fields, b: HTTP2Fields) -> Bool {
    a.count == b.count && a.storage[..<a.byteCount] == b.storage[..<b.byteCount]
  }
}

extension HTTP2Fields: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

extension HTTP2Fields: Sequence {
  /// Decodes one field per step.
  package struct Iterator: IteratorProtocol {
    fileprivate let fields: HTTP2Fields
    fileprivate var offset = 0

    package mutating func next() -> HTTP2Field? {
      guard offset < fields.byteCount else { return nil }
      return fields.withPackedBytes { bytes in
        let field = PackedField(in: bytes, at: &offset)
        return HTTP2Field(
          name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
      }
    }
  }

  package func makeIterator() -> Iterator { Iterator(fields: self) }
}

/// One field in a list's memory.
struct PackedField {
  let name: UnsafeRawBufferPointer
  let value: UnsafeRawBufferPointer
  let isIndexed: Bool

  /// - Parameter offset: the offset of the field's head. Moved behind the field.
  init(in packed: UnsafeRawBufferPointer, at offset: inout Int) {
    let nameHead = packed.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
    let nameEnd = offset + HTTP2Fields.headBytes + Int(nameHead & ~HTTP2Fields.neverIndexedBit)
    let valueEnd = nameEnd + Int(packed.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self))
    name = UnsafeRawBufferPointer(rebasing: packed[(offset + HTTP2Fields.headBytes)..<nameEnd])
    value = UnsafeRawBufferPointer(rebasing: packed[nameEnd..<valueEnd])
    isIndexed = nameHead & HTTP2Fields.neverIndexedBit == 0
    offset = valueEnd
  }

  fileprivate func isNamed(_ other: RawSpan) -> Bool {
    name.count == other.byteCount && other.withUnsafeBytes(name.elementsEqual)
  }

  /// - Parameter place: memory for the field and its head.
  fileprivate static func write(_ name: RawSpan, _ value: RawSpan, isIndexed: Bool, to place: UnsafeMutableRawPointer) {
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
