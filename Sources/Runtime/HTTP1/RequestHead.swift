package import HTTPTypes

/// A request without its content.
/// Holds the received bytes and the ranges of its parts, and makes text on demand: a request whose fields are not read costs
/// three allocations. An object, because it is passed through many calls, where copying its parts would cost more than sharing
/// them.
package final class RequestHead: Sendable {
  /// The method, in the client's case.
  package let method: HTTPRequest.Method
  /// The version that the request is treated as.
  package let version: HTTPVersion
  package let framing: MessageFraming
  /// Whether the client lets the connection be used again after the answer (RFC 9112 section 9.3).
  package let isPersistent: Bool
  /// Whether the client waits for `100 Continue` before it sends the content (RFC 9110 section 10.1.1).
  package let expectsContinue: Bool
  let bytes: [UInt8]
  let targetParts: RequestTarget
  let fieldLines: [FieldLine]

  /// The size of the head on the wire, its empty line included.
  package var byteCount: Int { bytes.count }

  init(
    line: RequestLine, framing: MessageFraming, control: ControlFields, bytes: [UInt8], fieldLines: [FieldLine]
  ) {
    method = line.method
    version = line.version
    self.framing = framing
    isPersistent = !control.asksToClose && (line.version == .http11 || control.asksToKeepAlive)
    expectsContinue = control.expectsContinue && line.version == .http11 && framing.expectsContent
    self.bytes = bytes
    targetParts = line.target
    self.fieldLines = fieldLines
  }

  func text(_ range: Range<Int>) -> String {
    let bytes = bytes
    return String(bytes.span.extracting(range))
  }

  /// The most bytes of a value that is read as UTF-8. Swift compares texts as if their combining marks were in canonical order,
  /// which takes quadratic time: 10 ms for 15 KB of marks, and 0.1 ms for 1 KiB.
  private static let unicodeBytesMax = 1024

  /// A field's value. Bytes that are not UTF-8 are repaired, because values may hold obsolete text. A long value that is not
  /// ASCII is read byte by byte, as ISO 8859-1, which has no marks.
  private func value(_ range: Range<Int>) -> String {
    guard range.count > Self.unicodeBytesMax, !bytes[range].allSatisfy({ $0 < 0x80 }) else { return text(range) }
    return String(decoding: bytes[range].map(UInt16.init), as: UTF16.self)
  }

  /// The field's value; nil without the field. The values of a repeated field are joined by a comma (RFC 9110 section 5.3), of
  /// Cookie by a semicolon.
  package subscript(name: HTTPField.Name) -> String? {
    var joined: String?
    for line in fieldLines where isNamed(line, name) {
      let value = self.value(line.value)
      joined = joined.map { $0 + (name == .cookie ? "; " : ", ") + value } ?? value
    }
    return joined
  }

  /// All fields, in the order of their lines. Makes a string of each name and value.
  package var fields: HTTPFields {
    var fields = HTTPFields()
    for line in fieldLines {
      guard let name = HTTPField.Name(text(line.name)) else { continue }
      fields.append(HTTPField(name: name, value: value(line.value)))
    }
    return fields
  }

  private func isNamed(_ line: FieldLine, _ name: HTTPField.Name) -> Bool {
    let canonical = name.canonicalName.utf8
    guard line.name.count == canonical.count else { return false }
    return zip(line.name, canonical).allSatisfy { bytes[$0].lowercased == $1 }
  }

  /// The request target as sent, in visible ASCII.
  package var target: String { text(targetParts.whole) }

  /// Whether the request is for the whole server: `OPTIONS *`, or OPTIONS with an absolute target without path and query (RFC
  /// 9112 section 3.2.4).
  package var isForServer: Bool { targetParts.isServer }

  /// The client's name for this server, host and port: from an absolute-form target, or else from the Host field. Nil only for
  /// HTTP/1.0.
  package var authority: String? {
    let bytes = bytes
    let host = fieldLines.first { bytes.span.extracting($0.name).equalsIgnoringCase("host") }
    return (targetParts.authority ?? host?.value).map(text)
  }

  /// The path as sent, percent-encoded. Begins with a slash; empty for a target without a path.
  package var path: String { text(targetParts.path) }

  @inline(__always)
  package func withPathBytes<Result>(_ read: (Span<UInt8>) -> Result) -> Result {
    let bytes = bytes
    return read(bytes.span.extracting(targetParts.path))
  }

  /// The text behind the first question mark, as sent; nil without one.
  package var query: String? { targetParts.query.map(text) }

  /// The query's parameters in order. Names and values are decoded, with plus signs as spaces.
  /// A parameter without an equals sign has an empty value. A parameter that is not UTF-8 is left out.
  package var queryParameters: [(name: String, value: String)] {
    guard let range = targetParts.query else { return [] }
    let bytes = bytes
    let query = bytes.span.extracting(range)
    var parameters: [(name: String, value: String)] = []
    var start = 0
    while start < query.count {
      let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
      if end > start, let parameter = Self.parameter(query.extracting(start..<end)) { parameters.append(parameter) }
      start = end + 1
    }
    return parameters
  }

  /// The first value of a query parameter.
  package func queryValue(_ name: String) -> String? { queryParameters.first { $0.name == name }?.value }

  private static func parameter(_ bytes: Span<UInt8>) -> (name: String, value: String)? {
    let nameEnd = bytes.firstIndex(of: .equals) ?? bytes.count
    let valueStart = min(nameEnd + 1, bytes.count)
    guard let name = PercentEncoding.decode(bytes.extracting(0..<nameEnd), plusIsSpace: true),
      let value = PercentEncoding.decode(bytes.extracting(valueStart..<bytes.count), plusIsSpace: true)
    else { return nil }
    return (name, value)
  }
}
