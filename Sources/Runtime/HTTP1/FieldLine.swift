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
