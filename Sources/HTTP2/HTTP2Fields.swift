/// One header field. Names are lower-case in HTTP/2 (RFC 9113 §8.2).
public struct HTTP2Field: Equatable, Sendable {
  /// The name, lower-case.
  public let name: String
  /// The value; bytes that are not UTF-8 arrive as replacement characters.
  public let value: String
}

/// Header fields in their order, duplicates kept, packed into one allocation.
///
/// A prepared list can be copied and appended to for each message. Pseudo-header fields (`:path`) are not in here.
public struct HTTP2Fields: Sendable, Equatable {
  // For each field: UInt32 name length, with `neverIndexedBit`; UInt32 value length; name; value.
  private(set) var packed: [UInt8] = []

  /// The number of fields.
  public private(set) var count = 0

  static let neverIndexedBit: UInt32 = 1 << 31
  static let headBytes = 8

  /// An empty list.
  public init() {}

  /// Adds a field at the end.
  /// - Parameters:
  ///   - name: lower-case.
  ///   - isIndexed: false keeps the value out of header compression's tables on every hop: for secrets, and for values
  ///     that never repeat, which would only push useful entries out. `authorization` is never indexed.
  public mutating func append(_ name: String, _ value: String, isIndexed: Bool = true) {
    var name = name
    var value = value
    let isIndexed = isIndexed && name != "authorization"
    name.withUTF8 { name in
      value.withUTF8 { value in
        append(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer(value), isIndexed: isIndexed)
      }
    }
  }

  /// The first value of a name, nil when the field is absent.
  public subscript(name: String) -> String? {
    first { $0.name == name }?.value
  }

  mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isIndexed: Bool) {
    if packed.isEmpty { packed.reserveCapacity(256) }
    let nameHead = UInt32(truncatingIfNeeded: name.count) | (isIndexed ? 0 : HTTP2Fields.neverIndexedBit)
    withUnsafeBytes(of: nameHead) { packed.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.count)) { packed.append(contentsOf: $0) }
    packed.append(contentsOf: name)
    packed.append(contentsOf: value)
    count += 1
  }

  mutating func removeAll() {
    packed.removeAll(keepingCapacity: true)
    count = 0
  }

  /// Bytes held, for limits.
  var byteCount: Int { packed.count }
}

extension HTTP2Fields: ExpressibleByDictionaryLiteral {
  /// A list from pairs of name and value, in the order written.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

/// One field where it lies in a list's memory.
struct PackedField {
  let name: UnsafeRawBufferPointer
  let value: UnsafeRawBufferPointer
  let isIndexed: Bool

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
}

extension HTTP2Fields: Sequence {
  /// Decodes one field per step.
  public struct Iterator: IteratorProtocol {
    fileprivate let packed: [UInt8]
    fileprivate var offset = 0

    /// The next field, nil at the end.
    public mutating func next() -> HTTP2Field? {
      guard offset < packed.count else { return nil }
      return packed.withUnsafeBytes { bytes in
        let field = PackedField(in: bytes, at: &offset)
        return HTTP2Field(
          name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
      }
    }
  }

  /// Walks the fields in their order.
  public func makeIterator() -> Iterator { Iterator(packed: packed) }
}
