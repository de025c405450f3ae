/// Takes chunked content apart (RFC 9112 section 7.1) as its bytes arrive.
///
/// Trailer fields are held to the syntax and the limits of header fields and then dropped (section 7.1.2 lets a server).
struct ChunkedDecoder {
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

  /// Decodes as much as it can.
  ///
  /// - Parameter bytes: what has not been consumed yet; on the next call the unconsumed rest and more.
  /// - Returns: how many bytes were consumed, and whether they ended the content.
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
        guard taken == remaining else { return (proceed(.data(remaining - taken), consumed), false) }
        part = .dataEnd
      } else {
        guard let line = try nextLine(rest) else { return (consumed, false) }
        consumed += scanner.lineStart
        scanner = LineScanner()
        guard try accept(rest.extracting(line), body.count) else { return (consumed, true) }
      }
    }
  }

  private mutating func proceed(_ next: Part, _ consumed: Int) -> Int {
    part = next
    return consumed
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

  /// - Returns: false after the line that ends the content.
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
