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
  /// Whether the target is the server as a whole: `*`, or of OPTIONS an absolute form without path and query
  /// (section 3.2.4).
  let isServer: Bool
  /// Whether an absolute-form target has the scheme https.
  let isHTTPS: Bool

  init(_ range: Range<Int>, of bytes: Span<UInt8>, isOptions: Bool) throws(RequestRefusal) {
    guard !range.isEmpty else { throw .malformedTarget }
    whole = range
    if range.count == 1, bytes[range.lowerBound] == UInt8(ascii: "*") {
      guard isOptions else { throw .malformedTarget }
      (authority, path, query, isServer, isHTTPS) = (nil, range.upperBound..<range.upperBound, nil, true, false)
      return
    }
    let authority = try Self.authority(range, of: bytes)
    let pathStart = authority?.upperBound ?? range.lowerBound
    let pathEnd = try Self.end(of: .path, in: bytes, pathStart..<range.upperBound)
    path = pathStart..<pathEnd
    query = pathEnd == range.upperBound ? nil : pathEnd + 1..<range.upperBound
    isServer = isOptions && path.isEmpty && query == nil
    isHTTPS = authority.map { $0.lowerBound - range.lowerBound == Self.httpsPrefix.utf8CodeUnitCount } ?? false
    self.authority = authority
    guard !DotSegments.occur(in: bytes, path) else { throw .dotSegment }
    try Self.checkQuery(query, after: pathEnd, in: bytes)
  }

  /// The authority of `http://authority/path`; `nil` for the usual `/path`. Any other form is refused.
  private static func authority(_ range: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) -> Range<Int>? {
    guard bytes[range.lowerBound] != .slash else { return nil }
    let target = bytes.extracting(range)
    guard let scheme = schemeLength(target) else { throw .malformedTarget }
    var end = scheme
    while end < target.count, target[end] != .slash, target[end] != .questionMark { end += 1 }
    guard AuthoritySyntax.accepts(target.extracting(scheme..<end)) else { throw .malformedTarget }
    return range.lowerBound + scheme..<range.lowerBound + end
  }

  private static let httpPrefix: StaticString = "http://"
  private static let httpsPrefix: StaticString = "https://"

  /// How many bytes precede the authority; `nil` with another scheme.
  private static func schemeLength(_ target: Span<UInt8>) -> Int? {
    for prefix in [httpPrefix, httpsPrefix] where target.count > prefix.utf8CodeUnitCount {
      let length = prefix.utf8CodeUnitCount
      if target.extracting(0..<length).equalsIgnoringCase(prefix) { return length }
    }
    return nil
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
