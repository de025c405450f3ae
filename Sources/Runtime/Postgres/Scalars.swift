package import FoundationEssentials

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

extension Duration: PostgresScalar {
  /// Appends an `interval` of whole microseconds, without days or months. Rounds towards zero.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (microseconds, overflow2) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    bytes.appendBigEndian(microseconds)
    bytes.appendBigEndian(Int64(0))
    return type == .interval && !overflow && !overflow2
  }

  /// Reads an `interval` without months, which have no fixed length. A day is 24 hours.
  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .interval, let microseconds = bytes.bigEndian(Int64.self),
      let days = bytes.bigEndian(Int32.self, at: 8), bytes.bigEndian(Int32.self, at: 12) == 0
    else { return nil }
    self = .microseconds(microseconds) + .seconds(Int64(days) * 86_400)
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

/// Raw bytes, for `bytea`. `[UInt8]` would be an array of small numbers.
package struct PostgresBytes: Hashable, Sendable, PostgresScalar {
  package var bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    bytes.append(contentsOf: self.bytes)
    return type == .bytes
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .bytes else { return nil }
    self.bytes = Array(bytes)
  }
}

/// A JSON document as UTF-8 text, for `json` and `jsonb`. The server checks its syntax.
package struct PostgresJSON: Hashable, Sendable, PostgresScalar {
  package var utf8: [UInt8]

  package init(utf8: [UInt8]) { self.utf8 = utf8 }

  package func encode(into encoder: inout PostgresParameterEncoder) { encoder.appendText(utf8) }

  /// Appends the text, behind the version byte of `jsonb`.
  package func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    if type == .jsonb { bytes.append(1) }
    bytes.append(contentsOf: utf8)
    return type == .json || type == .jsonb
  }

  package init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    switch type {
    case .json: utf8 = Array(bytes)
    case .jsonb where bytes.first == 1: utf8 = Array(bytes.dropFirst())
    default: return nil
    }
  }
}
