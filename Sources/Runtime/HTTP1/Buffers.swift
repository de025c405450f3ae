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

/// The bytes that wait to be sent, in one allocation that is used again and again while it is small.
public struct SendBuffer: Sendable {
  var bytes: [UInt8] = []
  private var sent = 0

  /// Above this much, an emptied buffer gives its memory back.
  ///
  /// 1 KiB (1024): the answers to health checks and webhooks fit.
  private static let keptBytesMax = 1024

  /// How much memory is held.
  var capacity: Int { bytes.capacity }
  /// How many bytes wait.
  public var count: Int { bytes.count - sent }

  /// Whether nothing waits.
  public var isEmpty: Bool { count == 0 }

  /// Gives the waiting bytes to `write`, which says how many it took, zero if none.
  ///
  /// - Returns: what `write` returned.
  @discardableResult
  public mutating func send(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
    let taken = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    sent += taken
    if isEmpty { reset() }
    return taken
  }

  private mutating func reset() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytesMax)
    sent = 0
  }
}

/// Memory that the connections of one reactor lend each other.
///
/// One that reads takes it and gives it back before it waits, unless bytes are left in it. So thousands that wait keep none,
/// and a request on one of them allocates none.
public struct SpareBuffers: Sendable {
  var input = ReceiveBuffer()
  var output = SendBuffer()

  /// Makes an empty store; what the first connection gives back fills it.
  public init() {}
}

extension ConnectionStateMachine {
  /// Takes the spare memory for what it has none for; call it before `receive`.
  public mutating func borrow(from spare: inout SpareBuffers) {
    if input.capacity == 0 { swap(&input, &spare.input) }
    if output.capacity == 0 { swap(&output, &spare.output) }
  }

  /// Gives back the memory in which nothing is unread or unsent; call it before a wait. What is more than usual is
  /// released, except that content keeps what lets it be read in few pieces.
  public mutating func giveBack(to spare: inout SpareBuffers) {
    if input.isEmpty, phase != .body {
      if input.capacity == ReceiveBuffer.usualBytes { swap(&input, &spare.input) }
      if input.capacity > 0 { input = ReceiveBuffer() }
    }
    if output.isEmpty {
      if output.capacity > 0 { swap(&output, &spare.output) }
      if output.capacity > 0 { output = SendBuffer() }
    }
  }
}
