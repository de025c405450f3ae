internal import HTTPTypes

/// Reads one request head from bytes that arrive in pieces, and refuses whatever two readers could read differently.
///
/// Lines are judged as soon as they are complete, so a hopeless request is refused early; all offsets count from the
/// message's first byte.
struct RequestHeadParser {
  private let limits: HTTPLimits
  private let isSecure: Bool
  private var scanner = LineScanner()
  private var hasSkippedEmptyLine = false
  private var requestLine: RequestLine?
  private var fieldsStart = 0
  private var fields: [FieldLine] = []
  private var control = ControlFields()

  /// Typical clients send fewer fields than this; one allocation holds them.
  private static let usualFieldCount = 16

  init(limits: HTTPLimits, isSecure: Bool = false) {
    self.limits = limits
    self.isSecure = isSecure
  }

  /// Begins a new message.
  mutating func reset() {
    scanner = LineScanner()
    hasSkippedEmptyLine = false
    requestLine = nil
    fieldsStart = 0
    fields = []
    control = ControlFields()
  }

  /// How many bytes precede the request line as far as they are known: an empty line, or nothing. While no more than
  /// these have arrived, no request has begun.
  var bytesBeforeRequest: Int { requestLine == nil ? scanner.lineStart : 0 }

  /// Whether the answer must go without content, as far as the request is known.
  var isHead: Bool { requestLine?.method == .head }

  /// Reads on.
  ///
  /// - Parameter bytes: all bytes since the message's first; on the next call the same ones and more.
  /// - Returns: the head, which occupies the first `head.byteCount` bytes; `nil` if more bytes are needed.
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

  /// What the line being read may take: all field lines share one allowance.
  private var lineBytesMax: Int {
    guard requestLine != nil else { return limits.requestLineBytesMax }
    return max(0, limits.fieldBytesMax - (scanner.lineStart - fieldsStart))
  }

  /// RFC 9112 section 3 tells a method that is too long from a target that is.
  private func tooLongLine(_ bytes: Span<UInt8>) -> RequestRefusal {
    let methodEnd = bytes.firstIndex(of: .space, from: scanner.lineStart) ?? bytes.count
    return methodEnd > scanner.lineStart + limits.requestLineBytesMax ? .methodTooLong : .requestLineTooLong
  }

  private mutating func acceptRequestLine(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard !line.isEmpty else {
      // Some old clients end a POST with a line too many; RFC 9112 section 2.2 asks to ignore at least one.
      guard !hasSkippedEmptyLine else { throw .emptyLines }
      hasSkippedEmptyLine = true
      return
    }
    let requestLine = try RequestLine(line, of: bytes)
    // RFC 9110 section 7.4: an https resource is served over a secured connection only.
    guard isSecure || !requestLine.target.isHTTPS else { throw .misdirected }
    self.requestLine = requestLine
    fieldsStart = scanner.lineStart
    fields.reserveCapacity(min(Self.usualFieldCount, limits.fieldCountMax))
  }

  private mutating func acceptField(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard scanner.lineStart - fieldsStart <= limits.fieldBytesMax else { throw .fieldsTooLarge }
    guard fields.count < limits.fieldCountMax else { throw .tooManyFields }
    let field = try FieldLine(line, of: bytes)
    try control.note(field, of: bytes)
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

  /// Splits the line at its two single spaces; RFC 9112 section 3 lets a server be lenient about other white space, and
  /// names the security trouble that follows.
  init(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard let methodEnd = bytes.firstIndex(of: .space, from: line.lowerBound), methodEnd < line.upperBound,
      let targetEnd = bytes.firstIndex(of: .space, from: methodEnd + 1), targetEnd < line.upperBound
    else { throw .malformedRequestLine }
    method = try Self.method(bytes.extracting(line.lowerBound..<methodEnd))
    version = try HTTPVersion(bytes.extracting(targetEnd + 1..<line.upperBound))
    guard method != .connect else { throw .connectRefused }
    target = try RequestTarget(methodEnd + 1..<targetEnd, of: bytes, isOptions: method == .options)
  }

  /// The method; the common ones cost no allocation and no validation.
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
  init(_ bytes: Span<UInt8>) {
    self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}

/// The protocol version a request is treated as.
///
/// A higher minor version than 1.1 is treated as 1.1 (RFC 9110 section 2.5); other major versions are refused.
public enum HTTPVersion: Sendable, Equatable {
  /// HTTP/1.0: no chunks, no 100-continue, and the connection closes after the answer unless asked otherwise.
  case http10
  /// HTTP/1.1: the connection stays open unless one side says `close`.
  case http11

  /// Reads the last part of a request line.
  init(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    guard bytes.count == 8, bytes.hasPrefix("HTTP/"), bytes[5].isDigit, bytes[6] == .dot, bytes[7].isDigit else {
      throw .malformedVersion
    }
    guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    self = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}
