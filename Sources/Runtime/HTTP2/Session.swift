internal import CNghttp2

/// What a session tells the connection that owns it, from inside ``Session/receive(_:)`` and ``Session/nextChunk()``.
/// No method may end the session.
protocol SessionDelegate: AnyObject {
  /// A request's headers begin (server); nil when the stream is refused.
  func streamOpened(_ id: Int32) -> MessageStream?
  /// The peer's message is complete.
  func messageCompleted(_ stream: MessageStream)
  /// The stream is over; nghttp2 has forgotten it.
  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode)
  /// A body or a header block is larger than the limits. What is over them is not kept.
  func messageTooLarge(_ stream: MessageStream)
  /// nghttp2 has declined to send a request's headers.
  /// - Parameter willClose: whether ``streamClosed(_:code:)`` follows.
  func requestNotSent(id: Int32, willClose: Bool)
  /// The peer's settings. `streamsMax` is nil when it does not say.
  func settingsReceived(streamsMax: Int?)
  func goAwayReceived(_ goAway: HTTP2GoAway)
}

/// The owner of an nghttp2 session: bytes in, events and bytes out. It touches no socket and no clock.
final class Session {
  struct Limits {
    let fieldsBytesMax: Int
    let bodyBytesMax: Int
  }

  let handle: OpaquePointer
  let limits: Limits

  /// The connection. Unowned: it holds the session, and makes every call that leads to a callback.
  unowned var delegate: (any SessionDelegate)?

  /// nghttp2's last complaint about the peer, which it follows with a GOAWAY of its own.
  var violation: String?

  /// Whether the peer's PINGs are acknowledged; a server may play dead.
  var acknowledgesPings = true

  /// Refused streams whose bodies are to be reset as well; nghttp2 takes a second reset only after it has sent the first.
  var refusedBodies: [Int32] = []

  /// SETTINGS frames on their way whose limit of streams goes under another name; see `Session+Settings`.
  var disguisedSettings = 0
  let revealedFrame = UnsafeMutableRawBufferPointer.allocate(byteCount: settingsFrameBytesMax, alignment: 1)

  private init(limits: Limits, make: (OpaquePointer, OpaquePointer, inout OpaquePointer?) -> Int32) {
    self.limits = limits
    var callbacks: OpaquePointer?
    var options: OpaquePointer?
    var made: OpaquePointer?
    nghttp2_session_callbacks_new(&callbacks)
    nghttp2_option_new(&options)
    // Each fails only for want of memory, for which nothing in this process is prepared.
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

  /// Calls no close callbacks: the connection answers for the streams that are still open.
  deinit {
    nghttp2_session_del(handle)
    revealedFrame.deallocate()
  }

  /// Feeds bytes from the peer.
  /// - Throws: ``HTTP2Error/protocolViolation(_:)`` when the session can go no further.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
    let count = nghttp2_session_mem_recv(handle, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    if count < 0 { throw .protocolViolation(String(cString: nghttp2_strerror(Int32(count)))) }
  }

  /// The next bytes for the peer: one frame, valid until the next call; nil when there is nothing to send now.
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

  /// Neither side has anything more to say, e.g. after a protocol error and its GOAWAY.
  var isFinished: Bool { nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0 }

  func stream(_ id: Int32) -> MessageStream? {
    guard let data = nghttp2_session_get_stream_user_data(handle, id) else { return nil }
    // Unretained: the connection's table holds the stream while nghttp2 does.
    return Unmanaged<MessageStream>.fromOpaque(data).takeUnretainedValue()
  }
}
