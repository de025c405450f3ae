extension UInt8 {
  static var tab: UInt8 { 0x09 }
  static var lineFeed: UInt8 { 0x0a }
  static var carriageReturn: UInt8 { 0x0d }
  static var space: UInt8 { UInt8(ascii: " ") }
  static var quote: UInt8 { UInt8(ascii: "\"") }
  static var percent: UInt8 { UInt8(ascii: "%") }
  static var comma: UInt8 { UInt8(ascii: ",") }
  static var dot: UInt8 { UInt8(ascii: ".") }
  static var slash: UInt8 { UInt8(ascii: "/") }
  static var colon: UInt8 { UInt8(ascii: ":") }
  static var semicolon: UInt8 { UInt8(ascii: ";") }
  static var equals: UInt8 { UInt8(ascii: "=") }
  static var questionMark: UInt8 { UInt8(ascii: "?") }
  static var backslash: UInt8 { UInt8(ascii: "\\") }

  /// Whether the byte is a control character other than the tabulator. No line may contain one.
  @inline(__always)
  var isControl: Bool { self < 0x20 ? self != .tab : self == 0x7f }

  @inline(__always)
  var isBlank: Bool { self == .space || self == .tab }

  @inline(__always)
  var isDigit: Bool { self &- 0x30 < 10 }

  /// An ASCII letter in lower case; any other byte unchanged.
  @inline(__always)
  var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }

  var hexadecimalValue: Int? {
    if isDigit { return Int(self &- 0x30) }
    let letter = lowercased
    return letter &- 0x61 < 6 ? Int(letter &- 0x61) + 10 : nil
  }
}

extension Span where Element == UInt8 {
  func hasPrefix(_ prefix: StaticString) -> Bool {
    guard count >= prefix.utf8CodeUnitCount else { return false }
    for index in 0..<prefix.utf8CodeUnitCount where self[index] != prefix.utf8Start[index] { return false }
    return true
  }

  func equalsIgnoringCase(_ lowercased: StaticString) -> Bool {
    guard count == lowercased.utf8CodeUnitCount else { return false }
    for index in 0..<count where self[index].lowercased != lowercased.utf8Start[index] { return false }
    return true
  }

  @inline(__always)
  func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
    var index = start
    while index < count, self[index] != byte { index += 1 }
    return index < count ? index : nil
  }

  /// The index of the first control character; `end` if there is none before.
  @inline(__always)
  func firstControl(from start: Int, to end: Int) -> Int {
    var index = start
    while index + 8 <= end, !Self.mayHoldControl(bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)) {
      index += 8
    }
    while index < end, !self[index].isControl { index += 1 }
    return index
  }

  /// Whether one of eight bytes is below 0x20 or is 0x7f. Subtracting borrows from a byte's highest bit if the byte is less.
  /// Source: Sean Anderson, "Bit Twiddling Hacks", on bytes less than n and on zero bytes.
  @inline(__always)
  private static func mayHoldControl(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let deletes = word ^ (ones &* 0x7f)
    let low = (word &- ones &* 0x20) & ~word
    let delete = (deletes &- ones) & ~deletes
    return (low | delete) & (ones &* 0x80) != 0
  }

  /// Whether there is at least one byte and every one belongs to the set.
  @inline(__always)
  func consists(of set: ByteSet) -> Bool {
    for index in 0..<count where !set.contains(self[index]) { return false }
    return count > 0
  }

  /// The range without the spaces and tabulators at both ends (`OWS`, RFC 9110 section 5.6.3).
  @inline(__always)
  func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }
}

/// A set of ASCII bytes, tested with one shift.
struct ByteSet {
  /// Bit n is byte n.
  let low: UInt64
  /// Bit n is byte n + 64.
  let high: UInt64

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    guard byte < 128 else { return false }
    return (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 != 0
  }

  // Constants rather than lazily initialized globals. The tests compare each set with its list of characters.

  /// `token` (RFC 9110 section 5.6.2): methods, field names, codings.
  static var token: ByteSet {
    @inline(__always) get { ByteSet(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe) }
  }

  /// `pchar` without `%`, and `/` (RFC 3986 section 3.3).
  static var path: ByteSet {
    @inline(__always) get { ByteSet(low: 0x2fff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff) }
  }

  /// `pchar` without `%`, `/` and `?` (RFC 3986 section 3.4).
  static var query: ByteSet {
    @inline(__always) get { ByteSet(low: 0xafff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff) }
  }

  /// `unreserved` and `sub-delims`: the bytes of a `reg-name` except encodings (RFC 3986 section 3.2.2).
  static var hostName: ByteSet {
    @inline(__always) get { ByteSet(low: 0x2bff_7fd2_0000_0000, high: 0x47ff_fffe_87ff_fffe) }
  }
}

/// The result of a scan for the end of a line.
enum LineScan: Equatable {
  case line(Range<Int>)
  /// The end has not arrived: scan again when there is more.
  case incomplete
  /// The line is longer than allowed, whether its end has arrived or not.
  case tooLong
}

/// Finds line ends in bytes that arrive in pieces, and looks at each byte once.
/// Offsets count from the first byte of the message, not of the buffer's storage, so the buffer may move its bytes. A result
/// depends only on the bytes before it, so it is the same for any pieces.
struct LineScanner {
  private(set) var lineStart = 0
  /// The end of the scanned part of the unfinished line.
  private var scanned = 0

  /// Scans for the end of the line at `lineStart`, and steps over it.
  @inline(__always)
  mutating func next(in bytes: Span<UInt8>, bytesMax: Int) throws(RequestRefusal) -> LineScan {
    let limit = lineStart + bytesMax
    let end = min(bytes.count, limit)
    let offset = bytes.firstControl(from: scanned, to: end)
    scanned = offset
    guard offset < bytes.count else { return .incomplete }
    guard bytes[offset].isControl else { return .tooLong }
    return try finishLine(at: offset, in: bytes)
  }

  /// Judges the control character at `offset`. Only CR LF ends a line: RFC 9112 section 2.2 permits a bare LF, but proxies may
  /// disagree about where such a line ends.
  private mutating func finishLine(at offset: Int, in bytes: Span<UInt8>) throws(RequestRefusal) -> LineScan {
    guard bytes[offset] == .carriageReturn else {
      throw bytes[offset] == .lineFeed ? .bareLineBreak : .controlCharacter
    }
    guard offset + 1 < bytes.count else { return .incomplete }
    guard bytes[offset + 1] == .lineFeed else { throw .bareLineBreak }
    let line = lineStart..<offset
    lineStart = offset + 2
    scanned = lineStart
    return .line(line)
  }
}

/// The ranges of one field line's name and value in the head's bytes.
/// Half-width offsets keep a line in 16 bytes. A head is far smaller than 4 GiB.
struct FieldLine {
  private let nameStart: UInt32
  private let nameEnd: UInt32
  private let valueStart: UInt32
  private let valueEnd: UInt32

  var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  /// Without surrounding blanks; may be empty.
  var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }

  /// Splits a line at its colon (RFC 9112 section 5).
  /// A blank at the line's start is obsolete folding, and a blank before the colon can hide a field from a proxy. Both are
  /// refused (sections 5.1 and 5.2).
  init(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    var end = line.lowerBound
    while end < line.upperBound, ByteSet.token.contains(bytes[end]) { end += 1 }
    guard end > line.lowerBound, end < line.upperBound, bytes[end] == .colon else {
      throw bytes[line.lowerBound].isBlank ? .foldedField : .malformedField
    }
    let value = bytes.trimmingBlanks(end + 1..<line.upperBound)
    nameStart = UInt32(line.lowerBound)
    nameEnd = UInt32(end)
    valueStart = UInt32(value.lowerBound)
    valueEnd = UInt32(value.upperBound)
  }
}
