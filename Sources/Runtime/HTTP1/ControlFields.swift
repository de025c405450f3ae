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
  ///
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
