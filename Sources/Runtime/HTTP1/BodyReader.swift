/// Collects a request's content up to its limit.
struct BodyReader {
  private var body: [UInt8] = []
  /// With the length that is still to come.
  private var framing: MessageFraming
  private var chunks: ChunkedDecoder

  /// The most memory reserved for an announced length before its bytes arrive, so that an announcement alone costs little.
  private static let reservedBytesMax = 16 * 1024

  var capacity: Int { body.capacity }

  init(framing: MessageFraming, limits: HTTPLimits, bodyBytesMax: Int) {
    chunks = ChunkedDecoder(limits: limits, bodyBytesMax: bodyBytesMax)
    self.framing = framing
    if case .length(let length) = framing { body.reserveCapacity(min(length, Self.reservedBytesMax)) }
  }

  /// Takes content from the buffer.
  /// - Returns: whether the content is complete.
  mutating func read(from buffer: inout ReceiveBuffer) throws(RequestRefusal) -> Bool {
    switch framing {
    case .none: return true
    case .length(let remaining):
      let taken = min(remaining, buffer.count)
      buffer.withUnread { $0.extracting(0..<taken).withUnsafeBufferPointer { body.append(contentsOf: $0) } }
      buffer.consume(taken)
      framing = .length(remaining - taken)
      return taken == remaining
    case .chunked:
      let (consumed, isComplete) = try buffer.withUnread { (bytes) throws(RequestRefusal) in
        try chunks.decode(bytes, into: &body)
      }
      buffer.consume(consumed)
      return isComplete
    }
  }

  mutating func takeBody() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &body)
    return taken
  }
}

/// Decodes chunked content (RFC 9112 section 7.1) as its bytes arrive.
/// Trailer fields must keep the syntax and the limits of header fields, and are then dropped (section 7.1.2 allows it).
private struct ChunkedDecoder {
  private enum Part { case size, data(Int), dataEnd, trailers }

  private let limits: HTTPLimits
  private let bodyBytesMax: Int
  private var part = Part.size
  private var scanner = LineScanner()
  private var extensionBytes = 0
  private var trailerBytes = 0
  private var trailerCount = 0

  init(limits: HTTPLimits, bodyBytesMax: Int) {
    self.limits = limits
    self.bodyBytesMax = bodyBytesMax
  }

  /// Decodes as many bytes as it can.
  /// - Parameter bytes: the unconsumed bytes; on the next call the unconsumed rest and more.
  /// - Returns: the number of bytes consumed, and whether they complete the content.
  mutating func decode(
    _ bytes: Span<UInt8>, into body: inout [UInt8]
  ) throws(RequestRefusal) -> (consumed: Int, isComplete: Bool) {
    var consumed = 0
    while true {
      let rest = bytes.extracting(consumed..<bytes.count)
      if case .data(let remaining) = part {
        let taken = min(remaining, rest.count)
        rest.extracting(0..<taken).withUnsafeBufferPointer { body.append(contentsOf: $0) }
        consumed += taken
        part = taken == remaining ? .dataEnd : .data(remaining - taken)
        guard taken == remaining else { return (consumed, false) }
      } else {
        guard let line = try nextLine(rest) else { return (consumed, false) }
        consumed += scanner.lineStart
        scanner = LineScanner()
        guard try accept(rest.extracting(line), body.count) else { return (consumed, true) }
      }
    }
  }

  private mutating func nextLine(_ bytes: Span<UInt8>) throws(RequestRefusal) -> Range<Int>? {
    switch try scanner.next(in: bytes, bytesMax: lineBytesMax) {
    case .line(let line): return line
    case .incomplete: return nil
    case .tooLong: throw tooLong
    }
  }

  private var lineBytesMax: Int {
    switch part {
    case .trailers: max(0, limits.fieldBytesMax - trailerBytes)
    case .dataEnd: 0
    case .size, .data: limits.chunkLineBytesMax
    }
  }

  private var tooLong: RequestRefusal {
    switch part {
    case .trailers: .trailersTooLarge
    case .dataEnd: .malformedChunk
    case .size, .data: .chunkLineTooLong
    }
  }

  /// - Returns: false for the line that ends the content.
  private mutating func accept(_ line: Span<UInt8>, _ bodyBytes: Int) throws(RequestRefusal) -> Bool {
    switch part {
    case .size: try acceptSize(line, bodyBytes)
    case .dataEnd, .data: part = .size
    case .trailers: return try acceptTrailer(line)
    }
    return true
  }

  private mutating func acceptSize(_ line: Span<UInt8>, _ bodyBytes: Int) throws(RequestRefusal) {
    let chunk = try ChunkLineSyntax.read(line)
    extensionBytes += chunk.extensionBytes
    guard extensionBytes <= limits.chunkExtensionBytesMax else { throw .chunkLineTooLong }
    guard chunk.size <= bodyBytesMax - bodyBytes else { throw .contentTooLarge }
    part = chunk.size == 0 ? .trailers : .data(chunk.size)
  }

  private mutating func acceptTrailer(_ line: Span<UInt8>) throws(RequestRefusal) -> Bool {
    guard line.count > 0 else { return false }
    trailerBytes += line.count + 2
    trailerCount += 1
    guard trailerBytes <= limits.fieldBytesMax, trailerCount <= limits.fieldCountMax else { throw .trailersTooLarge }
    _ = try FieldLine(0..<line.count, of: line)
    return true
  }
}

/// Reads a chunk-size line (RFC 9112 section 7.1): a hexadecimal size, then extensions, which are checked and ignored.
private enum ChunkLineSyntax {
  /// More digits than any size that fits memory. Leading zeros count.
  private static let digitsMax = 15

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

  /// `*( BWS ";" BWS name [ BWS "=" BWS value ] )`, where the value is a token or a quoted string. White space without a
  /// following semicolon is refused.
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
