internal import HTTPTypes

/// Writes the parts of a response head (RFC 9112 section 4) behind what a buffer already holds.
enum ResponseHeadWriter {
  /// The status line and the fields that are the handler's to set.
  ///
  /// Values cannot break out of their line: `HTTPField` replaces line ends and NUL in what it is given.
  static func append(status: HTTPResponse.Status, fields: HTTPFields, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: "HTTP/1.1 ".utf8)
    append(number: status.code, to: &buffer)
    buffer.append(.space)
    buffer.append(contentsOf: status.reasonPhrase.utf8)
    appendLineEnd(to: &buffer)
    for field in fields where !belongsToConnection(field.name) {
      buffer.append(contentsOf: field.name.rawName.utf8)
      buffer.append(.colon)
      buffer.append(.space)
      buffer.append(contentsOf: field.value.utf8)
      appendLineEnd(to: &buffer)
    }
  }

  static func append(contentLength: Int, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: "Content-Length: ".utf8)
    append(number: contentLength, to: &buffer)
    appendLineEnd(to: &buffer)
  }

  static func append(connection: StaticString, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: UnsafeBufferPointer(start: connection.utf8Start, count: connection.utf8CodeUnitCount))
  }

  @inline(__always)
  static func appendLineEnd(to buffer: inout [UInt8]) {
    buffer.append(.carriageReturn)
    buffer.append(.lineFeed)
  }

  private static func belongsToConnection(_ name: HTTPField.Name) -> Bool {
    name == .contentLength || name == .transferEncoding || name == .connection || name == .date
  }

  /// Decimal digits without a string; `number` is not negative.
  private static func append(number: Int, to buffer: inout [UInt8]) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      buffer.append(0x30 + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}
