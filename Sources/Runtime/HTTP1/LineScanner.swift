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
