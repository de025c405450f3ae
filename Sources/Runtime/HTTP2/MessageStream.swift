/// The messages of one stream, in both directions.
///
/// nghttp2 holds it unretained. The connection's table keeps it alive until nghttp2 reports that the stream has closed, or is
/// deleted.
class MessageStream {
  var id: Int32 = 0
  var fields = HTTP2Fields()
  var body: [UInt8] = []

  /// Bytes of the peer's body, kept or dropped.
  var bodyBytesReceived = 0

  /// Whether the final header block has ended. Later fields are trailers.
  var isHeadComplete = false

  /// Whether nghttp2 has handed out this side's HEADERS, so TLS may have them.
  var isHanded = false

  private(set) var outgoing: [UInt8] = []
  private var outgoingOffset = 0

  func setOutgoing(_ body: [UInt8]) {
    outgoing = body
    outgoingOffset = 0
  }

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

  /// A header block begins. An earlier one was informational (1xx).
  func beginHead() {
    fields.removeAll()
  }

  func endHead() {
    isHeadComplete = true
  }

  /// Copies the next part of the outgoing body.
  /// - Returns: the number of bytes, and whether they are the last.
  func copyOutgoing(into buffer: UnsafeMutableRawBufferPointer) -> (count: Int, isLast: Bool) {
    let count = min(buffer.count, outgoing.count - outgoingOffset)
    outgoing.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[outgoingOffset..<(outgoingOffset + count)]))
    }
    outgoingOffset += count
    return (count, outgoingOffset == outgoing.count)
  }
}

/// A client's request, and the task that waits for its outcome.
final class ClientStream: MessageStream {
  let request: HTTP2Request
  /// Monotonic nanoseconds.
  let deadline: UInt64
  private(set) var status = 0
  private var waiter: UnsafeContinuation<HTTP2Outcome, Never>?

  /// - Parameter waiter: resumed by ``finish(_:)``.
  init(_ request: HTTP2Request, deadline: UInt64, _ waiter: UnsafeContinuation<HTTP2Outcome, Never>) {
    self.request = request
    self.deadline = deadline
    self.waiter = waiter
    super.init()
    setOutgoing(request.body)
  }

  /// Whether the request has its outcome. The stream then only counts until the server has closed it.
  var isFinished: Bool { waiter == nil }

  /// Gives the request its outcome. Only the first one counts.
  func finish(_ outcome: HTTP2Outcome) {
    waiter?.resume(returning: outcome)
    waiter = nil
  }

  override func receivePseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    // `:status` is the only one. nghttp2 has checked its three digits.
    status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
  }

  override func endHead() {
    isHeadComplete = status >= 200
  }
}

/// One request that a server has not finished answering.
final class ServerStream: MessageStream {
  private(set) var method = ""
  private(set) var path = ""
  private(set) var authority = ""
  var isAnswered = false

  override func receivePseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let text = String(decoding: value, as: UTF8.self)
    switch name.count {
    case ":path".utf8.count where name.elementsEqual(":path".utf8): path = text
    case ":method".utf8.count where name.elementsEqual(":method".utf8): method = text
    case ":authority".utf8.count where name.elementsEqual(":authority".utf8): authority = text
    default: break  // `:scheme` is https over TLS.
    }
  }

  func request(arrival: UInt64) -> HTTP2ServerRequest {
    HTTP2ServerRequest(
      streamID: id, method: method, path: path, authority: authority, fields: fields, body: body,
      bodyBytesReceived: bodyBytesReceived, arrival: arrival)
  }
}
