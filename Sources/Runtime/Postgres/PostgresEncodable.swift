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
