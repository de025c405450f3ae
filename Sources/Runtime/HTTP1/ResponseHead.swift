package import HTTPTypes

/// The status and the fields of a final response.
/// The connection writes Content-Length, Transfer-Encoding, Date and Connection itself and ignores these fields here, except
/// that `Connection: close` closes the connection after the answer.
package struct ResponseHead: Sendable {
  /// A final status, 200 to 599. Writing another one traps.
  package var status: HTTPResponse.Status
  package var fields: HTTPFields

  package init(status: HTTPResponse.Status, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }

  /// Whether a response with this status has content (RFC 9110 section 6.4.1).
  var hasContent: Bool { status != .noContent && status != .notModified }

  var closesConnection: Bool { fields[.connection].map { $0.lowercased() == "close" } ?? false }

  /// Writes everything up to the Date field. Values cannot break out of their line: `HTTPField` replaces line ends and NUL.
  func write(contentLength: Int, to buffer: inout [UInt8]) {
    precondition((200...599).contains(status.code), "a response has a final status, not \(status.code)")
    buffer.append(contentsOf: "HTTP/1.1 ".utf8)
    buffer.append(number: status.code)
    buffer.append(.space)
    buffer.append(contentsOf: status.reasonPhrase.utf8)
    buffer.appendLineEnd()
    for field in fields where !field.name.belongsToConnection {
      buffer.append(contentsOf: field.name.rawName.utf8)
      buffer.append(.colon)
      buffer.append(.space)
      buffer.append(contentsOf: field.value.utf8)
      buffer.appendLineEnd()
    }
    if hasContent {
      buffer.append(contentsOf: "Content-Length: ".utf8)
      buffer.append(number: contentLength)
      buffer.appendLineEnd()
    }
  }
}

extension [UInt8] {
  @inline(__always)
  mutating func appendLineEnd() {
    append(.carriageReturn)
    append(.lineFeed)
  }

  /// Decimal digits without a string; `number` is not negative.
  fileprivate mutating func append(number: Int) {
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

/// A final response, complete except for its Date and Connection fields.
/// Make one ahead for an answer that never changes. Writing it then copies its bytes. An object, because it is passed through
/// many calls.
package final class PreparedResponse: Sendable {
  package let status: HTTPResponse.Status
  package let closesConnection: Bool
  /// Status line, fields and Content-Length, without the empty line.
  let head: [UInt8]
  /// The empty line and the content.
  let ending: [UInt8]

  /// - Parameters:
  ///   - head: with a final status. See `ResponseHead` for the fields that are not written.
  ///   - body: the content; dropped for 204 and 304, which have none.
  package init(_ head: ResponseHead, body: [UInt8] = []) {
    status = head.status
    closesConnection = head.closesConnection
    ending = Array("\r\n".utf8) + (head.hasContent ? body : [])
    var bytes: [UInt8] = []
    head.write(contentLength: body.count, to: &bytes)
    self.head = bytes
  }

  /// The bytes of the response as the last one of its connection.
  package func bytes(date: HTTPDate) -> [UInt8] {
    var bytes = head
    bytes.append(contentsOf: date.fieldLine)
    bytes.append(contentsOf: "Connection: close\r\n".utf8)
    bytes.append(contentsOf: ending)
    return bytes
  }
}

/// The Date field of a second: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
/// Stored as the whole field line, which each response copies. Make one a second, not one a response.
package struct HTTPDate: Sendable, Equatable {
  package let unixSeconds: Int
  /// `Date: …` with its line end.
  let fieldLine: [UInt8]

  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter unixSeconds: in the years 1970 to 9999.
  package init(unixSeconds: Int) {
    self.unixSeconds = unixSeconds
    fieldLine = Array("Date: \(Self.text(unixSeconds))\r\n".utf8)
  }

  private static func text(_ unixSeconds: Int) -> String {
    let (days, second) = unixSeconds.quotientAndRemainder(dividingBy: 86400)
    let date = civilDate(days)
    let clock = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
    return "\(Self.days[days % 7]), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(clock) GMT"
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Counts years from March, so that a leap day ends a year, in eras of 400 years. Source: Howard Hinnant,
  /// "chrono-compatible low-level date algorithms", `civil_from_days`.
  private static func civilDate(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}
