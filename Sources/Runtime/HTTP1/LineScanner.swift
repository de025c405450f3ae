/// What one look for the end of a line found.
enum LineScan: Equatable {
  /// The line's bytes without its line end.
  case line(Range<Int>)
  /// The end has not arrived; ask again when there is more.
  case incomplete
  /// The line is longer than allowed, whether its end has arrived or not.
  case tooLong
}

/// Finds line ends in bytes that arrive in pieces, looking at each byte once.
///
/// Offsets count from the first byte of the message, never from the buffer's storage, so the buffer may move its bytes.
/// Every outcome depends only on the bytes up to it, so pieces cut anywhere give the same outcomes.
struct LineScanner {
  /// Where the unfinished line begins.
  private(set) var lineStart = 0
  /// How far the unfinished line has been looked at.
  private var scanned = 0

  /// Looks for the end of the line that begins at `lineStart` and steps over it.
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

  /// Decides what the control character at `offset` means: only CR directly followed by LF ends a line
  /// (RFC 9112 section 2.2 permits a bare LF; accepting it invites disagreement with proxies about where a line ends).
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

/// Where one field line's name and value stand in the head's bytes.
///
/// Half-width offsets keep a line in 16 bytes; a head is bounded far below 4 GiB.
struct FieldLine {
  private let nameStart: UInt32
  private let nameEnd: UInt32
  private let valueStart: UInt32
  private let valueEnd: UInt32

  var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  /// Without the blanks around it; may be empty.
  var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }

  /// Splits a line at its colon (RFC 9112 section 5).
  ///
  /// A blank at the line's start is obsolete folding and a blank before the colon a known way to hide a field from a
  /// proxy; both are refused (sections 5.1 and 5.2).
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
