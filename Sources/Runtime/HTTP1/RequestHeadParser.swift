internal import HTTPTypes

/// Parses one request head from bytes that arrive in pieces. Refuses everything that another parser might read differently.
/// Judges each line when it is complete, so it refuses a bad request early. Offsets count from the message's first byte.
struct RequestHeadParser {
  private let limits: HTTPLimits
  private let isSecure: Bool
  private var scanner = LineScanner()
  private var hasSkippedEmptyLine = false
  private var requestLine: RequestLine?
  private var fieldsStart = 0
  private var fields: [FieldLine] = []
  private var control = ControlFields()

  /// One allocation holds the fields of typical clients, which send fewer.
  private static let usualFieldCount = 16

  init(limits: HTTPLimits, isSecure: Bool = false) {
    self.limits = limits
    self.isSecure = isSecure
  }

  mutating func reset() { self = RequestHeadParser(limits: limits, isSecure: isSecure) }

  /// The known bytes before the request line: an empty line, or none. A request has begun when more have arrived.
  var bytesBeforeRequest: Int { requestLine == nil ? scanner.lineStart : 0 }

  /// Whether the request line has the method HEAD, so that the answer has no content.
  var isHead: Bool { requestLine?.method == .head }

  /// Parses the bytes that have arrived.
  /// - Parameter bytes: all bytes since the message's first; on the next call the same bytes and more.
  /// - Returns: the head, which is the first `head.byteCount` bytes; nil if more bytes are needed.
  mutating func parse(_ bytes: Span<UInt8>) throws(RequestRefusal) -> RequestHead? {
    while true {
      switch try scanner.next(in: bytes, bytesMax: lineBytesMax) {
      case .incomplete: return nil
      case .tooLong: throw requestLine == nil ? tooLongLine(bytes) : .fieldsTooLarge
      case .line(let line):
        guard let requestLine else {
          try acceptRequestLine(line, of: bytes)
          continue
        }
        guard !line.isEmpty else { return try finish(requestLine, bytes) }
        try acceptField(line, of: bytes)
      }
    }
  }

  /// The limit of the current line. All field lines share one limit.
  private var lineBytesMax: Int {
    guard requestLine != nil else { return limits.requestLineBytesMax }
    return max(0, limits.fieldBytesMax - (scanner.lineStart - fieldsStart))
  }

  /// RFC 9112 section 3 has different answers for a long method and a long target.
  private func tooLongLine(_ bytes: Span<UInt8>) -> RequestRefusal {
    let methodEnd = bytes.firstIndex(of: .space, from: scanner.lineStart) ?? bytes.count
    return methodEnd > scanner.lineStart + limits.requestLineBytesMax ? .methodTooLong : .requestLineTooLong
  }

  private mutating func acceptRequestLine(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard !line.isEmpty else {
      // Some old clients send an empty line after a POST. RFC 9112 section 2.2 asks servers to ignore at least one.
      guard !hasSkippedEmptyLine else { throw .emptyLines }
      hasSkippedEmptyLine = true
      return
    }
    let requestLine = try RequestLine(line, of: bytes)
    // RFC 9110 section 7.4: https resources need a secured connection.
    guard isSecure || !requestLine.target.isHTTPS else { throw .misdirected }
    self.requestLine = requestLine
    fieldsStart = scanner.lineStart
    fields.reserveCapacity(min(Self.usualFieldCount, limits.fieldCountMax))
  }

  private mutating func acceptField(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard scanner.lineStart - fieldsStart <= limits.fieldBytesMax else { throw .fieldsTooLarge }
    guard fields.count < limits.fieldCountMax else { throw .tooManyFields }
    let field = try FieldLine(line, of: bytes)
    try control.read(field, of: bytes)
    fields.append(field)
  }

  private func finish(_ line: RequestLine, _ bytes: Span<UInt8>) throws(RequestRefusal) -> RequestHead {
    let head = bytes.extracting(0..<scanner.lineStart)
    return RequestHead(
      line: line, framing: try control.framing(in: line.version), control: control,
      bytes: head.withUnsafeBufferPointer { Array($0) }, fieldLines: fields)
  }
}

/// The parts of a request line (RFC 9112 section 3): `method SP request-target SP HTTP-version`.
struct RequestLine {
  let method: HTTPRequest.Method
  let target: RequestTarget
  let version: HTTPVersion

  /// Splits the line at its two single spaces. RFC 9112 section 3 lets servers accept other white space, but warns of the
  /// security problems.
  init(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard let methodEnd = bytes.firstIndex(of: .space, from: line.lowerBound), methodEnd < line.upperBound,
      let targetEnd = bytes.firstIndex(of: .space, from: methodEnd + 1), targetEnd < line.upperBound
    else { throw .malformedRequestLine }
    method = try Self.method(bytes.extracting(line.lowerBound..<methodEnd))
    version = try HTTPVersion(bytes.extracting(targetEnd + 1..<line.upperBound))
    guard method != .connect else { throw .connectRefused }
    target = try RequestTarget(methodEnd + 1..<targetEnd, of: bytes, isOptions: method == .options)
  }

  /// The method. The common ones cost no allocation and no validation.
  private static func method(_ bytes: Span<UInt8>) throws(RequestRefusal) -> HTTPRequest.Method {
    switch bytes.count {
    case 3 where bytes.hasPrefix("GET"): return .get
    case 3 where bytes.hasPrefix("PUT"): return .put
    case 4 where bytes.hasPrefix("POST"): return .post
    default: break
    }
    guard bytes.consists(of: .token), let method = HTTPRequest.Method(String(bytes)) else { throw .malformedMethod }
    return method
  }
}

extension String {
  /// The bytes as UTF-8, invalid sequences repaired.
  init(_ bytes: Span<UInt8>) { self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
}

/// The protocol version that a request is treated as.
/// A minor version above 1.1 counts as 1.1 (RFC 9110 section 2.5). Other major versions are refused.
package enum HTTPVersion: Sendable, Equatable {
  /// HTTP/1.0: no chunks, no 100-continue, and the connection closes after the answer unless asked otherwise.
  case http10
  /// HTTP/1.1: the connection stays open unless one side asks to close it.
  case http11

  init(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    guard bytes.count == 8, bytes.hasPrefix("HTTP/"), bytes[5].isDigit, bytes[6] == .dot, bytes[7].isDigit else {
      throw .malformedVersion
    }
    guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    self = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}

/// The fields that control the connection and the content's framing, collected line by line.
struct ControlFields {
  private var hasHost = false
  private var contentLength: Int?
  private var isChunked = false
  private(set) var asksToClose = false
  private(set) var asksToKeepAlive = false
  private(set) var expectsContinue = false

  /// Reads a field line. Other fields mostly cost a comparison of their name's length.
  @inline(__always)
  mutating func read(_ field: FieldLine, of bytes: Span<UInt8>) throws(RequestRefusal) {
    switch field.name.count {
    case 4, 6, 10, 14, 17: try readControl(bytes.extracting(field.name), value: bytes.extracting(field.value))
    default: break
    }
  }

  private mutating func readControl(_ name: Span<UInt8>, value: Span<UInt8>) throws(RequestRefusal) {
    if name.equalsIgnoringCase("host") {
      try readHost(value)
    } else if name.equalsIgnoringCase("connection") {
      try readConnection(value)
    } else if name.equalsIgnoringCase("content-length") {
      try readLength(value)
    } else if name.equalsIgnoringCase("transfer-encoding") {
      try readCoding(value)
    } else if name.equalsIgnoringCase("expect") {
      guard value.equalsIgnoringCase("100-continue") else { throw .unknownExpectation }
      expectsContinue = true
    }
  }

  /// RFC 9110 section 7.2, RFC 9112 section 3.2.
  private mutating func readHost(_ value: Span<UInt8>) throws(RequestRefusal) {
    guard !hasHost else { throw .repeatedHost }
    guard AuthoritySyntax.accepts(value) else { throw .malformedHost }
    hasHost = true
  }

  /// RFC 9110 section 7.6.1. Other options name fields that only a proxy removes.
  private mutating func readConnection(_ value: Span<UInt8>) throws(RequestRefusal) {
    var list = TokenList(value)
    while let option = try list.next(in: value, orThrow: .malformedConnection) {
      let option = value.extracting(option)
      if option.equalsIgnoringCase("close") { asksToClose = true }
      if option.equalsIgnoringCase("keep-alive") { asksToKeepAlive = true }
    }
  }

  /// RFC 9110 section 8.6. Equal repeated lengths could be merged, but honest clients do not repeat it.
  private mutating func readLength(_ value: Span<UInt8>) throws(RequestRefusal) {
    guard contentLength == nil else { throw .repeatedLength }
    guard value.count > 0 else { throw .malformedLength }
    var length = 0
    for index in 0..<value.count {
      guard value[index].isDigit else { throw .malformedLength }
      let (product, overflows) = length.multipliedReportingOverflow(by: 10)
      let (sum, carries) = product.addingReportingOverflow(Int(value[index] - 0x30))
      guard !overflows, !carries else { throw .malformedLength }
      length = sum
    }
    contentLength = length
  }

  /// RFC 9112 section 6.1: chunked must occur once, as the last coding. Other codings are not supported.
  /// Other fields skip empty list elements (RFC 9110 section 5.6.1). Here one would hide the coding from a proxy that compares
  /// the whole value.
  private mutating func readCoding(_ value: Span<UInt8>) throws(RequestRefusal) {
    guard !isChunked else { throw .repeatedCoding }
    var list = TokenList(value, acceptsEmpty: false)
    var hasUnknown = false
    while let coding = try list.next(in: value, orThrow: .malformedCoding) {
      guard !isChunked else { throw .malformedCoding }
      isChunked = value.extracting(coding).equalsIgnoringCase("chunked")
      hasUnknown = hasUnknown || !isChunked
    }
    guard isChunked else { throw .malformedCoding }
    guard !hasUnknown else { throw .unknownCoding }
  }

  /// Judges the fields together, when the head is complete.
  func framing(in version: HTTPVersion) throws(RequestRefusal) -> MessageFraming {
    guard hasHost || version == .http10 else { throw .missingHost }
    if isChunked {
      guard version == .http11 else { throw .codingInOldVersion }
      guard contentLength == nil else { throw .lengthAndCoding }
      return .chunked
    }
    return contentLength.map { .length($0) } ?? .none
  }
}

/// Steps through a comma-separated list of tokens (RFC 9110 section 5.6.1).
struct TokenList {
  private var position = 0
  private let end: Int
  private let acceptsEmpty: Bool

  /// - Parameter acceptsEmpty: whether to skip empty elements, as the section requires, or to refuse them.
  init(_ value: Span<UInt8>, acceptsEmpty: Bool = true) {
    end = value.count
    self.acceptsEmpty = acceptsEmpty
  }

  mutating func next(
    in value: Span<UInt8>, orThrow refusal: @autoclosure () -> RequestRefusal
  ) throws(RequestRefusal) -> Range<Int>? {
    while position < end || !acceptsEmpty && position == end {
      let comma = value.firstIndex(of: .comma, from: position) ?? end
      let element = value.trimmingBlanks(position..<comma)
      position = comma + 1
      guard !element.isEmpty || !acceptsEmpty else { continue }
      guard value.extracting(element).consists(of: .token) else { throw refusal() }
      return element
    }
    return nil
  }
}

/// How a request's content is delimited (RFC 9112 section 6.3).
package enum MessageFraming: Sendable, Equatable {
  /// Neither Content-Length nor Transfer-Encoding: the request has no content.
  case none
  /// Exactly this many bytes follow the head; may be zero.
  case length(Int)
  /// Chunks follow, up to the chunk of size zero and its trailer section.
  case chunked

  package var expectsContent: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}
