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
public struct HTTP2Fields: Sendable {
  // For each field: UInt32 name length, with `neverIndexedBit`; UInt32 value length; name; value. Zeros behind the last.
  private var storage: [UInt8] = []

  /// Bytes held, for limits.
  private(set) var byteCount = 0

  /// The number of fields.
  public private(set) var count = 0

  static let neverIndexedBit: UInt32 = 1 << 31
  static let headBytes = 8

  /// The least that is allocated: the fields of most answers.
  private static let storageBytesMin = 256

  /// An empty list.
  public init() {}

  /// An empty list with room, so that it is allocated once.
  /// - Parameter byteCount: names, values, and 8 bytes for each field.
  public init(reservingBytes byteCount: Int) {
    storage = [UInt8](repeating: 0, count: byteCount)
  }

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
    var name = name
    return name.withUTF8 { name in
      withPackedBytes { packed in
        var offset = 0
        while offset < packed.count {
          let field = PackedField(in: packed, at: &offset)
          if field.name.elementsEqual(name) { return String(decoding: field.value, as: UTF8.self) }
        }
        return nil
      }
    }
  }

  mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isIndexed: Bool) {
    let end = byteCount + HTTP2Fields.headBytes + name.count + value.count
    if end > storage.count { grow(to: end) }
    let place = byteCount..<end
    storage.withUnsafeMutableBytes { storage in
      PackedField(name: name, value: value, isIndexed: isIndexed).write(
        to: UnsafeMutableRawBufferPointer(rebasing: storage[place]))
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

  /// To at least twice the size, so that a list of many fields is copied a few times only.
  private mutating func grow(to needed: Int) {
    let size = Swift.max(needed, 2 * storage.count, HTTP2Fields.storageBytesMin)
    var larger = [UInt8](repeating: 0, count: size)
    larger.withUnsafeMutableBytes { larger in withPackedBytes { larger.copyMemory(from: $0) } }
    storage = larger
  }
}

extension HTTP2Fields: Equatable {
  /// Same fields, in the same order, indexed alike.
  public static func == (a: HTTP2Fields, b: HTTP2Fields) -> Bool {
    a.count == b.count && a.storage[..<a.byteCount] == b.storage[..<b.byteCount]
  }
}

extension HTTP2Fields: ExpressibleByDictionaryLiteral {
  /// A list from pairs of name and value, in the order written.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

extension HTTP2Fields: Sequence {
  /// Decodes one field per step.
  public struct Iterator: IteratorProtocol {
    fileprivate let fields: HTTP2Fields
    fileprivate var offset = 0

    /// The next field, nil at the end.
    public mutating func next() -> HTTP2Field? {
      guard offset < fields.byteCount else { return nil }
      return fields.withPackedBytes { bytes in
        let field = PackedField(in: bytes, at: &offset)
        return HTTP2Field(
          name: String(decoding: field.name, as: UTF8.self), value: String(decoding: field.value, as: UTF8.self))
      }
    }
  }

  /// Walks the fields in their order.
  public func makeIterator() -> Iterator { Iterator(fields: self) }
}
