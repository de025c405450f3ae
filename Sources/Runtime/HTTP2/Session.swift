internal import CNghttp2

/// The connection of a session. Called inside ``Session/receive(_:)`` and ``Session/nextChunk()``; no method may end the session.
protocol SessionDelegate: AnyObject {
  /// The headers of a request to a server begin.
  /// - Returns: nil to refuse the stream.
  func streamOpened(_ id: Int32) -> MessageStream?
  func messageCompleted(_ stream: MessageStream)
  /// The stream has closed, and nghttp2 has dropped it.
  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode)
  /// A body or a header block exceeds its limit. The excess is not kept.
  func messageTooLarge(_ stream: MessageStream)
  /// nghttp2 did not send a request's headers.
  /// - Parameter willClose: whether ``streamClosed(_:code:)`` follows.
  func requestNotSent(id: Int32, willClose: Bool)
  /// The peer's settings. `streamsMax` is nil if they do not contain it.
  func settingsReceived(streamsMax: Int?)
  func goAwayReceived(_ goAway: HTTP2GoAway)
}

/// The owner of an nghttp2 session: bytes in, events and bytes out. Uses no socket and no clock.
final class Session {
  struct Limits {
    let fieldsBytesMax: Int
    let bodyBytesMax: Int
  }

  let handle: OpaquePointer
  let limits: Limits

  /// The connection. Unowned, because it holds the session and makes every call that leads to a callback.
  unowned var delegate: (any SessionDelegate)?

  /// nghttp2's last error about the peer. nghttp2 then sends a GOAWAY.
  var violation: String?

  var acknowledgesPings = true

  /// Refused streams whose bodies are reset too. nghttp2 takes a second reset only after it has sent the first.
  var refusedBodies: [Int32] = []

  /// Submitted SETTINGS frames with a disguised limit of streams; see `Session+Settings`.
  var disguisedSettings = 0
  let revealedFrame = UnsafeMutableRawBufferPointer.allocate(byteCount: settingsFrameBytesMax, alignment: 1)

  private init(limits: Limits, make: (OpaquePointer, OpaquePointer, inout OpaquePointer?) -> Int32) {
    self.limits = limits
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    var made: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    nghttp2_option_new(&options)
    // They fail only without memory, which this process does not handle.
    guard let callbacks, let options else { fatalError("nghttp2: out of memory") }
    Session.setCallbacks(callbacks)
    // The client counts its streams itself; by default nghttp2 would assume 100 before the first SETTINGS.
    nghttp2_option_set_peer_max_concurrent_streams(options, UInt32.max)
    let code = make(callbacks, options, &made)
    nghttp2_session_callbacks_del(callbacks)
    nghttp2_option_del(options)
    guard code == 0, let made else { fatalError("nghttp2: out of memory") }
    handle = made
    nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
  }

  static func client(limits: Limits) -> Session {
    Session(limits: limits) { nghttp2_session_client_new2(&$2, $0, nil, $1) }
  }

  static func server(limits: Limits) -> Session {
    Session(limits: limits) { nghttp2_session_server_new2(&$2, $0, nil, $1) }
  }

  /// Calls no close callbacks: the connection finishes its open streams.
  deinit {
    nghttp2_session_del(handle)
    revealedFrame.deallocate()
  }

  /// Feeds bytes from the peer.
  /// - Throws: ``HTTP2Error/protocolViolation(_:)`` when the session cannot continue.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let count = nghttp2_session_mem_recv(handle, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    if count < 0 { throw .protocolViolation(String(cString: nghttp2_strerror(Int32(count)))) }
  }

  /// The next frame for the peer, valid until the next call; nil when there is nothing to send.
  func nextChunk() -> UnsafeRawBufferPointer? {
    var start: UnsafePointer<UInt8>?
    let count = nghttp2_session_mem_send(handle, &start)
    guard count > 0, let start else { return resetRefusedBodies() ? nextChunk() : nil }
    return revealSettings(in: UnsafeRawBufferPointer(start: start, count: count))
  }

  private func resetRefusedBodies() -> Bool {
    guard !refusedBodies.isEmpty else { return false }
    for id in refusedBodies { reset(id, .streamClosed) }
    refusedBodies.removeAll()
    return true
  }

  /// Whether neither side sends any more, e.g. after a protocol error and its GOAWAY.
  var isFinished: Bool { nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0 }

  func stream(_ id: Int32) -> MessageStream? {
    guard let data = nghttp2_session_get_stream_user_data(handle, id) else { return nil }
    // Unretained: the connection's table holds the stream as long as nghttp2 does.
    return Unmanaged<MessageStream>.fromOpaque(data).takeUnretainedValue()
  }
}
