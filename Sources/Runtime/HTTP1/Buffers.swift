/// The received bytes that are not yet consumed, in one reused allocation.
/// Consuming moves a mark. Bytes move to the front only when the space behind them is needed, so readers count from the
/// first unread byte. A peer that fills the space gets more, so that long contents need few reads. A waiting connection
/// keeps no buffer (`SpareBuffers`).
struct ReceiveBuffer {
  private var storage: [UInt8] = []
  private var start = 0
  private var end = 0
  private var wasFilled = false

  /// The initial space: 1 KiB with the array's header of 32 bytes, kept while a request is incomplete.
  /// A request with a bearer token or a browser's usual fields fits, and allocators are fastest for blocks of this size.
  static let usualBytes = 1024 - 32
  /// The space above which more saves no noticeable time beside the copying. The limits let a head take about as much.
  private static let bulkBytesMax = 32 * 1024

  var capacity: Int { storage.count }
  var count: Int { end - start }
  var isEmpty: Bool { count == 0 }

  @inline(__always)
  func withUnread<Result, Failure: Error>(
    _ read: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try read(storage.span.extracting(start..<end))
  }

  mutating func consume(_ byteCount: Int) {
    start += byteCount
    if start == end { (start, end) = (0, 0) }
  }

  /// Lets `fill` write behind the unread bytes, into at least one byte of space, and return how many it wrote.
  /// The space doubles when it is full. Callers bound the unread bytes, and with them the buffer.
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

/// The bytes to send, in one allocation that is reused while it is small.
package struct SendBuffer: Sendable {
  var bytes: [UInt8] = []
  private var sent = 0

  /// An empty buffer with more memory than this frees it. 1 KiB holds the answers to health checks and webhooks.
  private static let keptBytesMax = 1024

  var capacity: Int { bytes.capacity }
  package var count: Int { bytes.count - sent }

  package var isEmpty: Bool { count == 0 }

  /// Passes the bytes to `write`, which returns how many it took.
  /// - Returns: the same number.
  @discardableResult
  package mutating func send(_ write: (UnsafeRawBufferPointer) -> Int) -> Int {
    let taken = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
    sent += taken
    if isEmpty {
      bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptBytesMax)
      sent = 0
    }
    return taken
  }
}

/// Buffers that the connections of one reactor share.
/// A connection takes them to read, and gives them back before it waits unless they still hold bytes. So thousands of waiting
/// connections keep no memory, and a request on one of them allocates none.
package struct SpareBuffers: Sendable {
  var input = ReceiveBuffer()
  var output = SendBuffer()

  package init() {}
}

extension ConnectionStateMachine {
  /// Takes the spare buffers in place of its empty ones. Call it before `receive`.
  package mutating func borrow(from spare: inout SpareBuffers) {
    if input.capacity == 0 { swap(&input, &spare.input) }
    if output.capacity == 0 { swap(&output, &spare.output) }
  }

  /// Gives back the buffers without unread or unsent bytes. Call it before a wait.
  /// Frees larger buffers than usual, but keeps that of content, so that it is read in few pieces.
  package mutating func giveBack(to spare: inout SpareBuffers) {
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
