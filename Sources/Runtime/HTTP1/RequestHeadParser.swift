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
