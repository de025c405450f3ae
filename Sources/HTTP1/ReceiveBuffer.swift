/// The bytes that have arrived and are not yet consumed, in one allocation that is used again and again.
///
/// Consuming moves a mark; bytes move to the front only when the space behind them is needed. Readers therefore count
/// from the first unread byte.
struct ReceiveBuffer {
  private var storage: [UInt8]
  private var start = 0
  private var end = 0

  /// Enough for the head of a usual call with a bearer token of 2 KiB; what an idle connection costs.
  static let usualBytes = 4 * 1024

  init() { storage = [UInt8](repeating: 0, count: Self.usualBytes) }

  /// How many bytes are unread.
  var count: Int { end - start }

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
    return received
  }

  private mutating func makeRoom() {
    guard end == storage.count else { return }
    if start > 0 {
      storage.replaceSubrange(0..<end - start, with: storage[start..<end])
      (start, end) = (0, end - start)
    } else {
      storage.append(contentsOf: repeatElement(0, count: storage.count))
    }
  }
}
