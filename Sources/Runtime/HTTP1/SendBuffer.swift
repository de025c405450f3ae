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
