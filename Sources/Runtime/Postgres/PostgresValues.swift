package import FoundationEssentials
internal import Glibc

/// A value that can be a statement's parameter.
package protocol PostgresEncodable {
  /// Writes the value as the next parameter. Call exactly one of the encoder's methods.
  func encode(into encoder: inout PostgresParameterEncoder)
}

/// A value that can be read from a column.
package protocol PostgresDecodable {
  /// Reads a field; nil if its value or type does not fit.
  init?(_ field: PostgresField)
}

/// A single value: a parameter, a column, or an element of an array.
package protocol PostgresScalar: PostgresEncodable, PostgresDecodable, PostgresArrayElement {
  /// Appends the binary form of `type`.
  /// - Returns: false if the value cannot be sent as this type. The appended bytes are then ignored.
  func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool

  /// Reads the binary form of a value.
  /// - Parameter bytes: valid during this call only.
  /// - Returns: nil if this Swift type cannot hold `type` or the value.
  init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType)
}

/// An element of an array: a scalar, or an optional scalar for elements that may be null.
package protocol PostgresArrayElement {
  /// Appends the element with its length; false if it cannot be sent as `type`.
  func encodeElement(as type: PostgresType, into bytes: inout [UInt8]) -> Bool

  /// Reads an element; `bytes` is nil for a null.
  static func decodeElement(_ bytes: UnsafeRawBufferPointer?, type: PostgresType) -> Self?
}

/// One field of a row, valid while the row is decoded.
package struct PostgresField {
  /// The value in binary form; nil for a null.
  package let bytes: UnsafeRawBufferPointer?
  package let type: PostgresType
}

extension PostgresScalar {
  package func encode(into encoder: inout PostgresParameterEncoder) {
    encoder.appendBinary { type, bytes in encode(as: type, into: &bytes) }
  }

  package init?(_ field: PostgresField) {
    guard let bytes = field.bytes else { return nil }
    self.init(bytes, type: field.type)
  }

  package func encodeElement(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    bytes.appendBigEndian(Int32(0))
    guard encode(as: type, into: &bytes) else { return false }
    bytes.replaceLength(at: start, Int32(bytes.count - start - 4))
    return true
  }

  package static func decodeElement(_ bytes: UnsafeRawBufferPointer?, type: PostgresType) -> Self? {
    bytes.flatMap { Self($0, type: type) }
  }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
  package func encode(into encoder: inout PostgresParameterEncoder) {
    guard let self else { return encoder.appendNull() }
    self.encode(into: &encoder)
  }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
  package init?(_ field: PostgresField) {
    if field.bytes == nil {
      self = .none
    } else if let value = Wrapped(field) {
      self = .some(value)
    } else {
      return nil
    }
  }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
  package func encodeElement(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    if let self { return self.encodeElement(as: type, into: &bytes) }
    bytes.appendBigEndian(Int32(-1))
    return true
  }

  package static func decodeElement(_ bytes: UnsafeRawBufferPointer?, type: PostgresType) -> Wrapped?? {
    guard bytes != nil else { return .some(.none) }
    return Wrapped.decodeElement(bytes, type: type).map { .some($0) }
  }
}

/// An enumeration with raw values is sent as its raw value.
extension PostgresScalar where Self: RawRepresentable, RawValue: PostgresScalar {
  package func encode(into encoder: inout PostgresParameterEncoder) { rawValue.encode(into: &encoder) }

  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    rawValue.encode(as: type, into: &bytes)
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard let rawValue = RawValue(bytes, type: type) else { return nil }
    self.init(rawValue: rawValue)
  }
}

extension Bool: PostgresScalar {
  /// Appends one byte, for `boolean` only.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    bytes.append(self ? 1 : 0)
    return type == .bool
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .bool, bytes.count == 1 else { return nil }
    self = bytes[0] != 0
  }
}

/// An integer as wide as the declared type. A value that does not fit is refused.
extension PostgresScalar where Self: FixedWidthInteger {
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    switch type {
    case .int8: append(as: Int64.self, to: &bytes)
    case .int4: append(as: Int32.self, to: &bytes)
    case .int2: append(as: Int16.self, to: &bytes)
    default: false
    }
  }

  /// Reads a `smallint`, `integer` or `bigint` whose value fits.
  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    let value: Int64? =
      switch type {
      case .int8: bytes.bigEndian(Int64.self)
      case .int4: bytes.bigEndian(Int32.self).map(Int64.init)
      case .int2: bytes.bigEndian(Int16.self).map(Int64.init)
      default: nil
      }
    guard let value else { return nil }
    self.init(exactly: value)
  }

  private func append<Wire: FixedWidthInteger>(as wire: Wire.Type, to bytes: inout [UInt8]) -> Bool {
    guard let number = Wire(exactly: self) else { return false }
    bytes.appendBigEndian(number)
    return true
  }
}

extension Int: PostgresScalar {}
extension Int64: PostgresScalar {}
extension Int32: PostgresScalar {}

extension Double: PostgresScalar {
  /// Appends eight bytes, for `double precision` only.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    bytes.appendBigEndian(bitPattern)
    return type == .float8
  }

  /// Reads a `double precision` or `real`.
  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    switch type {
    case .float8:
      guard let bits = bytes.bigEndian(UInt64.self) else { return nil }
      self.init(bitPattern: bits)
    case .float4:
      guard let bits = bytes.bigEndian(UInt32.self) else { return nil }
      self.init(Float(bitPattern: bits))
    default: return nil
    }
  }
}

extension String: PostgresScalar {
  /// Sends text, which the server reads as the declared type: a string can be a parameter of any type.
  package func encode(into encoder: inout PostgresParameterEncoder) { encoder.appendText(utf8) }

  /// Appends the characters, for types whose binary form is their characters. Refuses NUL, which PostgreSQL cannot store.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    bytes.append(contentsOf: utf8)
    return type.isTextual && !bytes.hasZero(from: start)
  }

  /// Reads `text` and its relatives, `json`, `jsonb` and enumerations.
  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    if type == .jsonb {
      self.init(decoding: bytes.dropFirst(), as: UTF8.self)
    } else if type.isTextual {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      return nil
    }
  }
}

extension UUID: PostgresScalar {
  /// Appends sixteen bytes, for `uuid` only.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    withUnsafeBytes(of: uuid) { bytes.append(contentsOf: $0) }
    return type == .uuid
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .uuid, bytes.count == 16 else { return nil }
    self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
  }
}

/// A `bigint` of microseconds.
extension Duration: PostgresDecodable {
  package init?(_ field: PostgresField) {
    guard let microseconds = Int64(field) else { return nil }
    self = .microseconds(microseconds)
  }
}

/// A moment, for `timestamp with time zone`.
package struct PostgresTimestamp: Hashable, Sendable, PostgresScalar {
  /// 2000-01-01, from which PostgreSQL counts; microseconds since 1970.
  private static let epoch: Int64 = 946_684_800_000_000

  /// Microseconds since 1970; nil for `infinity`, `-infinity`, and the last months before the year 294277, which this count
  /// does not reach.
  package let microseconds: Int64?

  package init(microseconds: Int64?) { self.microseconds = microseconds }

  /// Microseconds since 1970.
  /// - Throws: ``PostgresError/Code/decoding`` where there is no such number.
  package func finite() throws(PostgresError) -> Int64 {
    guard let microseconds else { throw PostgresError(.decoding, "a time is infinite") }
    return microseconds
  }

  /// Appends eight bytes, for `timestamptz` only. Refuses a moment without a number.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    guard let (value, overflow) = microseconds?.subtractingReportingOverflow(Self.epoch), !overflow else {
      return false
    }
    bytes.appendBigEndian(value)
    return type == .timestamptz
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .timestamptz, bytes.count == 8, let value = bytes.bigEndian(Int64.self) else { return nil }
    let (microseconds, overflow) = value.addingReportingOverflow(Self.epoch)
    self.microseconds = overflow || value == .min ? nil : microseconds
  }
}

/// A one-dimensional array.
/// The binary form is the number of dimensions, a flag for nulls and the element type; for each dimension its length and lower
/// bound; then each element behind its length, −1 for a null (`array_send` in PostgreSQL's arrayfuncs.c).
extension Array: PostgresEncodable where Element: PostgresArrayElement {
  /// Sends the elements. An empty array has no dimension.
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
