/// What the fields that steer the connection said, gathered line by line.
struct ControlFields {
  private var hasHost = false
  private var contentLength: Int?
  private var isChunked = false
  private(set) var asksToClose = false
  private(set) var asksToKeepAlive = false
  private(set) var expectsContinue = false

  /// Takes note of a field line; most names are none of these and cost a comparison of their length.
  @inline(__always)
  mutating func note(_ field: FieldLine, of bytes: Span<UInt8>) throws(RequestRefusal) {
    switch field.name.count {
    case 4, 6, 10, 14, 17: try noteControl(bytes.extracting(field.name), value: bytes.extracting(field.value))
    default: break
    }
  }

  private mutating func noteControl(_ name: Span<UInt8>, value: Span<UInt8>) throws(RequestRefusal) {
    if name.equalsIgnoringCase("host") {
      try noteHost(value)
    } else if name.equalsIgnoringCase("connection") {
      try noteConnection(value)
    } else if name.equalsIgnoringCase("content-length") {
      try noteLength(value)
    } else if name.equalsIgnoringCase("transfer-encoding") {
      try noteCoding(value)
    } else if name.equalsIgnoringCase("expect") {
      guard value.equalsIgnoringCase("100-continue") else { throw .unknownExpectation }
      expectsContinue = true
    }
  }

  /// RFC 9110 section 7.2, RFC 9112 section 3.2.
  private mutating func noteHost(_ value: Span<UInt8>) throws(RequestRefusal) {
    guard !hasHost else { throw .repeatedHost }
    guard AuthoritySyntax.accepts(value) else { throw .malformedHost }
    hasHost = true
  }

  /// RFC 9110 section 7.6.1; other options name fields that only a proxy would have to remove.
  private mutating func noteConnection(_ value: Span<UInt8>) throws(RequestRefusal) {
    var list = TokenList(value)
    while let option = try list.next(in: value, orThrow: .malformedConnection) {
      let option = value.extracting(option)
      if option.equalsIgnoringCase("close") { asksToClose = true }
      if option.equalsIgnoringCase("keep-alive") { asksToKeepAlive = true }
    }
  }

  /// RFC 9110 section 8.6. A repeated length could be merged when all agree; nobody honest sends one.
  private mutating func noteLength(_ value: Span<UInt8>) throws(RequestRefusal) {
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

  /// RFC 9112 section 6.1: chunked must be the last coding and stand once; it is the only one known here.
  ///
  /// An empty list element would be skipped in any other field (RFC 9110 section 5.6.1); here it hides the coding from a
  /// proxy that compares the whole value.
  private mutating func noteCoding(_ value: Span<UInt8>) throws(RequestRefusal) {
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

  /// Judges the fields together, once the head is complete.
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

  /// - Parameter acceptsEmpty: whether empty elements are skipped, as the section asks for, or refused.
  init(_ value: Span<UInt8>, acceptsEmpty: Bool = true) {
    end = value.count
    self.acceptsEmpty = acceptsEmpty
  }

  /// The next element's place; `nil` after the last.
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

/// How the end of a request's content is found (RFC 9112 section 6.3).
public enum MessageFraming: Sendable, Equatable {
  /// Neither Content-Length nor Transfer-Encoding: there is no content.
  case none
  /// Exactly this many bytes follow the head; may be zero.
  case length(Int)
  /// Chunks follow until the chunk of size zero and its trailer section.
  case chunked

  /// Whether any byte of content is still to come after the head.
  public var expectsContent: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}
