/// One stream's message in each direction, as far as it has come. nghttp2 holds it unretained; the connection's table
/// keeps it alive until nghttp2 has said that the stream is closed, or is itself gone.
class MessageStream {
  var id: Int32 = 0
  var fields = HTTP2Fields()
  var body: [UInt8] = []

  /// Bytes of the peer's body that have arrived, kept or not.
  var bodyBytesReceived = 0

  /// Set when the final header block has ended: what comes after it are trailers.
  var isHeadComplete = false

  /// The peer has ended its message.
  var isComplete = false

  /// This side's HEADERS have been taken out of nghttp2, so TLS may have them.
  var isHanded = false

  private(set) var outgoing: [UInt8] = []
  private var outgoingOffset = 0

  func setOutgoing(_ body: [UInt8]) {
    outgoing = body
    outgoingOffset = 0
  }

  /// A field whose name begins with a colon.
  func receivePseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {}

  /// Keeps a field.
  /// - Returns: false when it would make the header block larger than the limit.
  final func receiveField(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, isIndexed: Bool, fieldsBytesMax: Int
  ) -> Bool {
    guard fields.byteCount + name.count + value.count <= fieldsBytesMax else { return false }
    fields.append(name.bytes, value.bytes, isIndexed: isIndexed)
    return true
  }

  /// A header block begins; an earlier one was informational (1xx).
  func beginHead() {
    fields.removeAll()
  }

  /// A header block has ended.
  func endHead() {
    isHeadComplete = true
  }

  /// Copies the next part of the outgoing body.
  /// - Returns: bytes copied, and whether they were the last.
  func copyOutgoing(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(buffer.count, outgoing.count - outgoingOffset)
    outgoing.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[outgoingOffset..<(outgoingOffset + count)]))
    }
    outgoingOffset += count
    return (count, outgoingOffset == outgoing.count)
  }
}
