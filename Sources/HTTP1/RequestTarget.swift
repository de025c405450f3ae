/// Where the parts of a request target stand in the head's bytes (RFC 9112 section 3.2).
struct RequestTarget {
  /// The target as sent.
  let whole: Range<Int>
  /// The host and port of an absolute-form target; it overrides the Host field (section 3.2.2).
  let authority: Range<Int>?
  /// From the first slash up to the query; empty for an absolute-form target without a path, and for `*`.
  let path: Range<Int>
  /// What follows the first question mark.
  let query: Range<Int>?
  /// Whether the target is `*`, the server as a whole.
  let isAsterisk: Bool

  init(_ range: Range<Int>, of bytes: Span<UInt8>, isOptions: Bool) throws(RequestRefusal) {
    guard !range.isEmpty else { throw .malformedTarget }
    whole = range
    isAsterisk = range.count == 1 && bytes[range.lowerBound] == UInt8(ascii: "*")
    if isAsterisk {
      guard isOptions else { throw .malformedTarget }
      (authority, path, query) = (nil, range.upperBound..<range.upperBound, nil)
      return
    }
    authority = try Self.authority(range, of: bytes)
    let pathStart = authority?.upperBound ?? range.lowerBound
    let pathEnd = try Self.end(of: .path, in: bytes, pathStart..<range.upperBound)
    path = pathStart..<pathEnd
    query = pathEnd == range.upperBound ? nil : pathEnd + 1..<range.upperBound
    try Self.checkQuery(query, after: pathEnd, in: bytes)
  }

  /// The authority of `http://authority/path`; `nil` for the usual `/path`. Any other form is refused.
  private static func authority(_ range: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) -> Range<Int>? {
    guard bytes[range.lowerBound] != .slash else { return nil }
    let target = bytes.extracting(range)
    let scheme: Int
    switch true {
    case target.count > 7 && target.extracting(0..<7).equalsIgnoringCase("http://"): scheme = 7
    case target.count > 8 && target.extracting(0..<8).equalsIgnoringCase("https://"): scheme = 8
    default: throw .malformedTarget
    }
    var end = scheme
    while end < target.count, target[end] != .slash, target[end] != .questionMark { end += 1 }
    guard AuthoritySyntax.accepts(target.extracting(scheme..<end)) else { throw .malformedTarget }
    return range.lowerBound + scheme..<range.lowerBound + end
  }

  /// Where the bytes stop belonging to the set; percent signs must begin a valid encoding.
  private static func end(
    of set: ByteSet, in bytes: Span<UInt8>, _ range: Range<Int>
  ) throws(RequestRefusal) -> Int {
    var index = range.lowerBound
    while index < range.upperBound {
      if set.contains(bytes[index]) {
        index += 1
      } else if bytes[index] == .percent {
        guard PercentEncoding.decodes(bytes, at: index, end: range.upperBound) else { throw .malformedTarget }
        index += 3
      } else {
        break
      }
    }
    return index
  }

  private static func checkQuery(
    _ query: Range<Int>?, after pathEnd: Int, in bytes: Span<UInt8>
  ) throws(RequestRefusal) {
    guard let query else { return }
    guard bytes[pathEnd] == .questionMark, try end(of: .query, in: bytes, query) == query.upperBound else {
      throw .malformedTarget
    }
  }
}
