/// Raw bytes, for `bytea`. A type of its own because `[UInt8]` would read as an array of small numbers.
public struct PostgresBytes: Hashable, Sendable, PostgresScalar {
  /// The bytes; may be empty.
  public var bytes: [UInt8]

  /// Wraps bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Appends the bytes as they are.
  public func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    bytes.append(contentsOf: self.bytes)
    return type == .bytes
  }

  /// Reads a `bytea`.
  public init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    guard type == .bytes else { return nil }
    self.bytes = Array(bytes)
  }
}

/// A JSON document as UTF-8 text, for `json` and `jsonb`. Its syntax is the server's to check.
public struct PostgresJSON: Hashable, Sendable, PostgresScalar {
  /// The document's text.
  public var utf8: [UInt8]

  /// Wraps a document's text.
  public init(utf8: [UInt8]) { self.utf8 = utf8 }

  /// Sends the text.
  public func encode(into encoder: inout PostgresParameterEncoder) { encoder.appendText(utf8) }

  /// Appends the text, with the version byte that the binary form of `jsonb` begins with.
  public func encode(as type: PostgresType, into bytes: inout [UInt8]) -> Bool {
    if type == .jsonb { bytes.append(1) }
    bytes.append(contentsOf: utf8)
    return type == .json || type == .jsonb
  }

  /// Reads a `json` or `jsonb`.
  public init?(_ bytes: UnsafeRawBufferPointer, type: PostgresType) {
    switch type {
    case .json: utf8 = Array(bytes)
    case .jsonb where bytes.first == 1: utf8 = Array(bytes.dropFirst())
    default: return nil
    }
  }
}
