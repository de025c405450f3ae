/// The result of a scan for the end of a line.
enum LineScan: Equatable {
  /// The line without its line end.
  case line(Range<Int>)
  /// The end has not arrived: scan again when there is more.
  case incomplete
  /// The line is longer than allowed, whether its end has arrived or not.
  case tooLong
}

/// Finds line ends in bytes that arrive in pieces, and looks at each byte once.
///
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
///
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
  ///
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
