/// Collects a request's content up to its limit.
struct BodyReader {
  private enum Source { case length(Int), chunks }

  /// What has arrived so far.
  private(set) var body: [UInt8] = []
  private var source: Source
  private var chunks: ChunkedDecoder

  /// The most that is set aside for a promised length before any of it has arrived, so that promises cost nothing.
  private static let reservedBytesMax = 16 * 1024

  /// How much memory is held.
  var capacity: Int { body.capacity }

  init(framing: MessageFraming, limits: HTTPLimits, bodyBytesMax: Int) {
    chunks = ChunkedDecoder(limits: limits, bodyBytesMax: bodyBytesMax)
    switch framing {
    case .none: source = .length(0)
    case .length(let length): source = .length(length)
    case .chunked: source = .chunks
    }
    if case .length(let length) = source, length > 0 { body.reserveCapacity(min(length, Self.reservedBytesMax)) }
  }

  /// Takes what it can from the buffer.
  ///
  /// - Returns: whether the content is complete.
  mutating func read(from buffer: inout ReceiveBuffer) throws(RequestRefusal) -> Bool {
    switch source {
    case .length(let remaining):
      let taken = min(remaining, buffer.count)
      buffer.withUnread { $0.extracting(0..<taken).withUnsafeBufferPointer { body.append(contentsOf: $0) } }
      buffer.consume(taken)
      source = .length(remaining - taken)
      return taken == remaining
    case .chunks:
      let (consumed, isComplete) = try buffer.withUnread { (bytes) throws(RequestRefusal) in
        try chunks.decode(bytes, into: &body)
      }
      buffer.consume(consumed)
      return isComplete
    }
  }

  /// Gives the content away, leaving nothing behind.
  mutating func takeBody() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &body)
    return taken
  }
}
