public import HTTPTypes

/// The status and the fields of a final response, as a handler decides them.
///
/// Content-Length, Transfer-Encoding, Date and Connection belong to the connection: what stands here under those names
/// is not written, except that `Connection: close` closes the connection after the answer.
public struct ResponseHead: Sendable {
  /// A final status, 200 to 599; anything else traps when it is written.
  public var status: HTTPResponse.Status
  /// The fields, in the order they are written.
  public var fields: HTTPFields

  /// Makes a head with the given parts.
  public init(status: HTTPResponse.Status, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }

  /// Whether a response with this status has content (RFC 9110 section 6.4.1).
  var hasContent: Bool { status != .noContent && status != .notModified }

  var closesConnection: Bool { fields[.connection].map { $0.lowercased() == "close" } ?? false }

  /// Everything up to the Date field.
  func write(contentLength: Int, to buffer: inout [UInt8]) {
    precondition((200...599).contains(status.code), "a response has a final status, not \(status.code)")
    ResponseHeadWriter.append(status: status, fields: fields, to: &buffer)
    if hasContent { ResponseHeadWriter.append(contentLength: contentLength, to: &buffer) }
  }
}

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
