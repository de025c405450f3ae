/// The segments `.` and `..` of a path (RFC 3986 section 3.3), plain or percent-encoded.
///
/// A client removes them before it sends (RFC 3986 section 5.2.4). One that is left is read differently by whoever
/// removes it on the way and whoever does not, so a check made there need not hold here.
enum DotSegments {
  /// Whether one occurs in a path whose percent-encoding is valid.
  static func occur(in bytes: Span<UInt8>, _ path: Range<Int>) -> Bool {
    var index = path.lowerBound
    while index < path.upperBound {
      if bytes[index] == .slash, isDots(bytes, index + 1..<path.upperBound) { return true }
      index += 1
    }
    return false
  }

  /// Whether one or two dots and then a slash or the end follow.
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

  /// How many bytes write the dot that begins here; zero if none does.
  private static func dotLength(_ bytes: Span<UInt8>, _ rest: Range<Int>) -> Int {
    let start = rest.lowerBound
    if bytes[start] == .dot { return 1 }
    guard bytes[start] == .percent, rest.count >= 3, bytes[start + 1] == UInt8(ascii: "2") else { return 0 }
    return bytes[start + 2].lowercased == UInt8(ascii: "e") ? 3 : 0
  }
}
