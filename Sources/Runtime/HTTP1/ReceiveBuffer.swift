/// The bytes that have arrived and are not yet consumed, in one allocation that is used again and again.
///
/// Consuming moves a mark; bytes move to the front only when the space behind them is needed. Readers therefore count
/// from the first unread byte. A peer that fills the space is given more of it, so that long contents need few reads;
/// a connection that waits keeps none (`SpareBuffers`).
struct ReceiveBuffer {
  private var storage: [UInt8] = []
  private var start = 0
  private var end = 0
  private var wasFilled = false

  /// What a connection begins with: 1 KiB with the array's own 32 bytes, kept while a request is incomplete.
  ///
  /// A request with a bearer token or a browser's usual fields fits; allocators hand blocks of this size out fastest.
  static let usualBytes = 1024 - 32
  /// Beyond this much space, more would save no time that counts beside the copying. The 32 KiB (32768) are also about
  /// what the limits let a head take.
  private static let bulkBytesMax = 32 * 1024

  /// How much memory is held.
  var capacity: Int { storage.count }
  /// How many bytes are unread.
  var count: Int { end - start }
  /// Whether nothing is unread.
  var isEmpty: Bool { count == 0 }

  /// Lends the unread bytes.
  @inline(__always)
  func withUnread<Result, Failure: Error>(
    _ read: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try read(storage.span.extracting(start..<end))
  }

  /// Steps over the first unread bytes.
  mutating func consume(_ byteCount: Int) {
    start += byteCount
    if start == end { (start, end) = (0, 0) }
  }

  /// Lets `fill` write behind the unread bytes and say how many it wrote; it is given at least one byte of space.
  ///
  /// The space doubles when no room is left: callers bound what they leave unread, and with it the buffer.
  mutating func receive(_ fill: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
    makeRoom()
    let received = storage.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[end...])) }
    end += received
    wasFilled = end == storage.count
    return received
  }

  private mutating func makeRoom() {
    if count == 0 {
      guard storage.isEmpty || wasFilled && storage.count < Self.bulkBytesMax else { return }
      storage = [UInt8](repeating: 0, count: max(Self.usualBytes, storage.count * 2))
    } else if end == storage.count, start > 0 {
      storage.replaceSubrange(0..<end - start, with: storage[start..<end])
      (start, end) = (0, end - start)
    } else if end == storage.count {
      storage.append(contentsOf: repeatElement(0, count: storage.count))
    }
  }
}
