package import HTTPTypes

/// The status and the fields of a final response.
///
/// The connection writes Content-Length, Transfer-Encoding, Date and Connection itself and ignores these fields here, except
/// that `Connection: close` closes the connection after the answer.
package struct ResponseHead: Sendable {
  /// A final status, 200 to 599. Writing another one traps.
  package var status: HTTPResponse.Status
  /// The fields, in the order to write them.
  package var fields: HTTPFields

  package init(status: HTTPResponse.Status, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }

  /// Whether a response with this status has content (RFC 9110 section 6.4.1).
  var hasContent: Bool { status != .noContent && status != .notModified }

  var closesConnection: Bool { fields[.connection].map { $0.lowercased() == "close" } ?? false }

  /// Writes everything up to the Date field.
  func write(contentLength: Int, to buffer: inout [UInt8]) {
    precondition((200...599).contains(status.code), "a response has a final status, not \(status.code)")
    buffer.append(status: status, fields: fields)
    if hasContent { buffer.append(contentLength: contentLength) }
  }
}

// The parts of a response head (RFC 9112 section 4).
extension [UInt8] {
  /// Appends the status line and the fields of the handler.
  ///
  /// Values cannot break out of their line: `HTTPField` replaces line ends and NUL.
  fileprivate mutating func append(status: HTTPResponse.Status, fields: HTTPFields) {
    append(contentsOf: "HTTP/1.1 ".utf8)
    append(number: status.code)
    append(.space)
    append(contentsOf: status.reasonPhrase.utf8)
    appendLineEnd()
    for field in fields where !field.name.belongsToConnection {
      append(contentsOf: field.name.rawName.utf8)
      append(.colon)
      append(.space)
      append(contentsOf: field.value.utf8)
      appendLineEnd()
    }
  }

  fileprivate mutating func append(contentLength: Int) {
    append(contentsOf: "Content-Length: ".utf8)
    append(number: contentLength)
    appendLineEnd()
  }

  @inline(__always)
  mutating func appendLineEnd() {
    append(.carriageReturn)
    append(.lineFeed)
  }

  /// Decimal digits without a string; `number` is not negative.
  private mutating func append(number: Int) {
    var divisor = 1
    while number / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(0x30 + UInt8(number / divisor % 10))
      divisor /= 10
    }
  }
}

extension HTTPField.Name {
  fileprivate var belongsToConnection: Bool {
    self == .contentLength || self == .transferEncoding || self == .connection || self == .date
  }
}
