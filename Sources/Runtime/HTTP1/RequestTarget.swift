/// The ranges of a request target's parts in the head's bytes (RFC 9112 section 3.2).
struct RequestTarget {
  let whole: Range<Int>
  /// The host and port of an absolute-form target. They override the Host field (section 3.2.2).
  let authority: Range<Int>?
  /// From the first slash to the query. Empty for `*`, and for an absolute-form target without a path.
  let path: Range<Int>
  /// The part behind the first question mark.
  let query: Range<Int>?
  /// Whether the target is the whole server: `*`, or for OPTIONS an absolute form without path and query (section 3.2.4).
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

  /// The authority of `http://authority/path`; nil for the usual `/path`. Refuses other forms.
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

  /// The number of bytes before the authority; nil for another scheme.
  private static func schemeLength(_ target: Span<UInt8>) -> Int? {
    for prefix in [httpPrefix, httpsPrefix] where target.count > prefix.utf8CodeUnitCount {
      let length = prefix.utf8CodeUnitCount
      if target.extracting(0..<length).equalsIgnoringCase(prefix) { return length }
    }
    return nil
  }

  /// The index of the first byte outside the set. Percent signs must begin a valid encoding.
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

/// The segments `.` and `..` of a path (RFC 3986 section 3.3), plain or percent-encoded.
/// Clients remove them before they send (RFC 3986 section 5.2.4). A proxy may resolve one that is left and another may not, so
/// a proxy's check of the path would not hold here.
private enum DotSegments {
  /// Whether one occurs in a path with valid percent-encoding.
  static func occur(in bytes: Span<UInt8>, _ path: Range<Int>) -> Bool {
    var index = path.lowerBound
    while index < path.upperBound {
      if bytes[index] == .slash, isDots(bytes, index + 1..<path.upperBound) { return true }
      index += 1
    }
    return false
  }

  /// Whether the rest begins with one or two dots, and then a slash or the end.
  private static func isDots(_ bytes: Span<UInt8>, _ rest: Range<Int>) -> Bool {
    var index = rest.lowerBound
    var dots = 0
    while index < rest.upperBound, bytes[index] != .slash {
      let length = dotLength(bytes, index..<rest.upperBound)
      dots += 1
      guard length > 0, dots <= 2 else { return false }
      index += length
    }
    return dots > 0
  }

  /// The length of the plain or encoded dot that begins here; zero for another byte.
  private static func dotLength(_ bytes: Span<UInt8>, _ rest: Range<Int>) -> Int {
    let start = rest.lowerBound
    if bytes[start] == .dot { return 1 }
    guard bytes[start] == .percent, rest.count >= 3, bytes[start + 1] == UInt8(ascii: "2") else { return 0 }
    return bytes[start + 2].lowercased == UInt8(ascii: "e") ? 3 : 0
  }
}

/// Percent-encoded bytes (RFC 3986 section 2.1).
package enum PercentEncoding {
  /// Whether a valid encoding begins at `index`. NUL is refused, because it ends strings in many languages.
  static func decodes(_ bytes: Span<UInt8>, at index: Int, end: Int) -> Bool {
    byte(in: bytes, at: index, end: end) ?? 0 > 0
  }

  /// The byte of the encoding at `index`; nil if the digits are missing or wrong.
  private static func byte(in bytes: Span<UInt8>, at index: Int, end: Int) -> UInt8? {
    guard index + 2 < end, let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
    else { return nil }
    return UInt8(high << 4 | low)
  }

  package static func occurs(in bytes: Span<UInt8>) -> Bool { bytes.firstIndex(of: .percent) != nil }

  /// Decodes valid bytes; nil if the result is not UTF-8.
  /// - Parameter plusIsSpace: whether a plus sign is a space, as in the query of an HTML form.
  package static func decode(_ bytes: Span<UInt8>, plusIsSpace: Bool = false) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == .percent, let encoded = Self.byte(in: bytes, at: index, end: bytes.count) {
        decoded.append(encoded)
        index += 3
      } else {
        decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? .space : byte)
        index += 1
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }
}

/// The syntax of `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2).
/// Refuses an empty host, which is invalid for http, and user information, which serves phishing (RFC 9110 section 4.2.4). A
/// name may hold delimiters and percent-encoding, although DNS names do not: the service answers under every name, so it
/// neither compares nor decodes names.
enum AuthoritySyntax {
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return false }
    guard bytes[0] != UInt8(ascii: "[") else { return acceptsLiteral(bytes) }
    let hostEnd = bytes.firstIndex(of: .colon) ?? bytes.count
    return acceptsName(bytes.extracting(0..<hostEnd)) && acceptsPort(bytes.extracting(hostEnd..<bytes.count))
  }

  /// An IPv6 address in brackets.
  private static func acceptsLiteral(_ bytes: Span<UInt8>) -> Bool {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
    return IPv6Syntax.accepts(bytes.extracting(1..<end)) && acceptsPort(bytes.extracting(end + 1..<bytes.count))
  }

  /// A `reg-name` that is not empty (RFC 3986 section 3.2.2).
  private static func acceptsName(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      if bytes[index] == .percent {
        guard PercentEncoding.decodes(bytes, at: index, end: bytes.count) else { return false }
        index += 3
      } else {
        guard ByteSet.hostName.contains(bytes[index]) else { return false }
        index += 1
      }
    }
    return bytes.count > 0
  }

  /// Nothing, or a colon and a port of up to five digits. The digits may be missing.
  private static func acceptsPort(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return true }
    guard bytes[0] == .colon, bytes.count <= 6 else { return false }
    var port = 0
    for index in 1..<bytes.count {
      guard bytes[index].isDigit else { return false }
      port = port * 10 + Int(bytes[index] - 0x30)
    }
    return port <= 65535
  }
}

/// The textual form of an IPv6 address (`IPv6address`, RFC 3986 section 3.2.2).
enum IPv6Syntax {
  private static let groupCount = 8

  /// Accepts groups of up to four hexadecimal digits between colons. `::` may occur once, for at least one group of zeros. An
  /// IPv4 address may replace the last two groups. Zone identifiers are refused, because they are local to one host.
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    var groups = 0
    var hasGap = bytes.hasPrefix("::")
    var index = hasGap ? 2 : 0
    while index < bytes.count {
      let end = bytes.firstIndex(of: .colon, from: index) ?? bytes.count
      let taken = groupsTaken(bytes.extracting(index..<end), isLast: end == bytes.count)
      guard taken > 0 else { return false }
      groups += taken
      guard end < bytes.count else { break }
      index = end + 1
      guard index < bytes.count else { return false }
      guard bytes[index] == .colon else { continue }
      guard !hasGap else { return false }
      hasGap = true
      index += 1
    }
    return hasGap ? groups < groupCount : groups == groupCount
  }

  /// - Returns: how many groups the part between two colons is; zero if it is malformed.
  private static func groupsTaken(_ part: Span<UInt8>, isLast: Bool) -> Int {
    if isLast, part.firstIndex(of: .dot) != nil { return isIPv4(part) ? 2 : 0 }
    guard (1...4).contains(part.count) else { return 0 }
    for index in 0..<part.count where part[index].hexadecimalValue == nil { return 0 }
    return 1
  }

  /// Four decimal numbers up to 255 without leading zeros, which some parsers read as octal.
  private static func isIPv4(_ bytes: Span<UInt8>) -> Bool {
    var numbers = 0
    var start = 0
    while start <= bytes.count {
      let end = bytes.firstIndex(of: .dot, from: start) ?? bytes.count
      guard isOctet(bytes.extracting(start..<end)) else { return false }
      numbers += 1
      start = end + 1
    }
    return numbers == 4
  }

  private static func isOctet(_ digits: Span<UInt8>) -> Bool {
    guard (1...3).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else { return false }
    var value = 0
    for index in 0..<digits.count {
      guard digits[index].isDigit else { return false }
      value = value * 10 + Int(digits[index] - 0x30)
    }
    return value <= 255
  }
}
