/// Reads a chunk-size line (RFC 9112 section 7.1): hexadecimal size, then extensions, which are checked and ignored.
enum ChunkLineSyntax {
  /// More digits than any size that fits memory; leading zeros count.
  private static let digitsMax = 15

  /// - Returns: the chunk's size and how many bytes of the line its extensions took.
  static func read(_ line: Span<UInt8>) throws(RequestRefusal) -> (size: Int, extensionBytes: Int) {
    var index = 0
    var size = 0
    while index < line.count, let digit = line[index].hexadecimalValue {
      size = size << 4 | digit
      index += 1
      guard index <= digitsMax else { throw .malformedChunk }
    }
    guard index > 0, acceptsExtensions(line, from: index) else { throw .malformedChunk }
    return (size, line.count - index)
  }

  /// `*( BWS ";" BWS name [ BWS "=" BWS value ] )`, the value a token or a quoted string. White space that no semicolon
  /// follows is refused.
  private static func acceptsExtensions(_ line: Span<UInt8>, from start: Int) -> Bool {
    var index = start
    while index < line.count {
      index = skipBlanks(line, index)
      guard index < line.count, line[index] == .semicolon else { return false }
      guard let nameEnd = tokenEnd(line, skipBlanks(line, index + 1)) else { return false }
      index = nameEnd
      let equals = skipBlanks(line, index)
      guard equals < line.count, line[equals] == .equals else { continue }
      guard let valueEnd = valueEnd(line, skipBlanks(line, equals + 1)) else { return false }
      index = valueEnd
    }
    return true
  }

  private static func skipBlanks(_ line: Span<UInt8>, _ start: Int) -> Int {
    var index = start
    while index < line.count, line[index].isBlank { index += 1 }
    return index
  }

  private static func tokenEnd(_ line: Span<UInt8>, _ start: Int) -> Int? {
    var index = start
    while index < line.count, ByteSet.token.contains(line[index]) { index += 1 }
    return index > start ? index : nil
  }

  private static func valueEnd(_ line: Span<UInt8>, _ start: Int) -> Int? {
    guard start < line.count, line[start] == .quote else { return tokenEnd(line, start) }
    var index = start + 1
    while index < line.count, line[index] != .quote { index += line[index] == .backslash ? 2 : 1 }
    return index < line.count ? index + 1 : nil
  }
}
