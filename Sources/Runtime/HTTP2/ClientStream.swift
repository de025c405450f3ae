/// One request of a client and the task that waits for its outcome.
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

  /// Nobody waits for this stream any more; it only counts until the server has closed it too.
  var isFinished: Bool { waiter == nil }

  /// Gives the request its outcome; the first one counts.
  func finish(_ outcome: HTTP2Outcome) {
    waiter?.resume(returning: outcome)
    waiter = nil
  }

  override func receivePseudoField(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    // `:status` is the only one; nghttp2 has checked that it is three digits.
    status = value.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
  }

  override func endHead() {
    isHeadComplete = status >= 200
  }
}
