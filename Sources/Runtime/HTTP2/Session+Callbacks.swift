internal import CNghttp2

// The C callbacks. Each recovers the session, calls one method and returns.
extension Session {
  static func setCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
      withSession(data) { $0.headersBegan(frame!) }
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameLength, value, valueLength, flags, data in
      withSession(data) {
        $0.fieldReceived(
          frame!, UnsafeRawBufferPointer(start: name, count: nameLength),
          UnsafeRawBufferPointer(start: value, count: valueLength),
          isIndexed: flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) == 0)
      }
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, length, data in
      withSession(data) { $0.bodyReceived(id, UnsafeRawBufferPointer(start: bytes, count: length)) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
      withSession(data) { $0.frameReceived(frame!) }
      return 0
    }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, data in
      withSession(data) { $0.frameSending(frame!) }
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, data in
      withSession(data) { $0.frameNotSent(frame!) }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, data in
      withSession(data) { $0.streamClosed(id, code) }
      return 0
    }
    nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, text, length, data in
      withSession(data) {
        $0.violation = String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
      }
      return 0
    }
  }

  private func headersBegan(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
    if cnghttp2_opens_request(frame) != 0 {
      let id = cnghttp2_stream(frame)
      guard let stream = delegate?.streamOpened(id) else {
        resetBody(ofRefused: frame)
        return 0
      }
      stream.id = id
      // Not retained: as in `submitRequest`.
      nghttp2_session_set_stream_user_data(handle, id, Unmanaged.passUnretained(stream).toOpaque())
    } else if let stream = stream(cnghttp2_stream(frame)), !stream.isHeadComplete {
      stream.beginHead()
    }
    return 0
  }

  /// The body of a refused request arrives at a closed stream. APNs resets it again, and so does this server.
  private func resetBody(ofRefused frame: UnsafePointer<nghttp2_frame>) {
    guard cnghttp2_flags(frame) & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) == 0 else { return }
    refusedBodies.append(cnghttp2_stream(frame))
  }

  private func fieldReceived(
    _ frame: UnsafePointer<nghttp2_frame>, _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    isIndexed: Bool
  ) -> Int32 {
    guard let data = nghttp2_session_get_stream_user_data(handle, cnghttp2_stream(frame)) else { return 0 }
    // Not retained for the call, like the session: nothing in it ends a stream.
    return Unmanaged<MessageStream>.fromOpaque(data)._withUnsafeGuaranteedRef { stream in
      guard !stream.isHeadComplete else { return 0 }
      if name.first == UInt8(ascii: ":") {
        stream.receivePseudoField(name, value)
        return 0
      }
      if stream.receiveField(name, value, isIndexed: isIndexed, fieldsBytesMax: limits.fieldsBytesMax) { return 0 }
      delegate?.messageTooLarge(stream)
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
  }

  private func bodyReceived(_ id: Int32, _ bytes: UnsafeRawBufferPointer) {
    guard let stream = stream(id) else { return }
    stream.bodyBytesReceived += bytes.count
    stream.body.append(contentsOf: bytes.prefix(limits.bodyBytesMax - stream.body.count))
    if stream.bodyBytesReceived > limits.bodyBytesMax { delegate?.messageTooLarge(stream) }
  }

  private func frameReceived(_ frame: UnsafePointer<nghttp2_frame>) {
    switch nghttp2_frame_type(UInt32(cnghttp2_type(frame))) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA: messagePartReceived(frame)
    case NGHTTP2_SETTINGS: settingsReceived(frame)
    case NGHTTP2_GOAWAY: goAwayReceived(cnghttp2_goaway(frame).pointee)
    default: break
    }
  }

  private func messagePartReceived(_ frame: UnsafePointer<nghttp2_frame>) {
    guard let stream = stream(cnghttp2_stream(frame)) else { return }
    if cnghttp2_type(frame) == UInt8(NGHTTP2_HEADERS.rawValue) { stream.endHead() }
    guard cnghttp2_flags(frame) & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    delegate?.messageCompleted(stream)
  }

  private func settingsReceived(_ frame: UnsafePointer<nghttp2_frame>) {
    guard cnghttp2_flags(frame) & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
    let settings = cnghttp2_settings(frame).pointee
    let entries = UnsafeBufferPointer(start: settings.iv, count: settings.niv)
    let streams = entries.last { $0.settings_id == Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue) }
    delegate?.settingsReceived(streamsMax: streams.map { Int($0.value) })
  }

  private func goAwayReceived(_ frame: nghttp2_goaway) {
    let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    delegate?.goAwayReceived(
      HTTP2GoAway(
        lastStreamID: frame.last_stream_id, code: HTTP2ErrorCode(rawValue: frame.error_code),
        debugData: Array(debugData.prefix(HTTP2GoAway.debugDataBytesMax))))
  }

  /// - Returns: 0, or nghttp2's code to drop the frame.
  private func frameSending(_ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
    switch nghttp2_frame_type(UInt32(cnghttp2_type(frame))) {
    case NGHTTP2_HEADERS: stream(cnghttp2_stream(frame))?.isHanded = true
    case NGHTTP2_PING where !acknowledgesPings && cnghttp2_flags(frame) & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0:
      return NGHTTP2_ERR_CANCEL.rawValue
    default: break
    }
    return 0
  }

  private func frameNotSent(_ frame: UnsafePointer<nghttp2_frame>) {
    guard cnghttp2_opens_request(frame) != 0 else { return }
    let id = cnghttp2_stream(frame)
    // nghttp2 closes a stream next that it has already opened, and needs it until then.
    delegate?.requestNotSent(id: id, willClose: stream(id) != nil)
  }

  private func streamClosed(_ id: Int32, _ code: UInt32) {
    guard let stream = stream(id) else { return }
    delegate?.streamClosed(stream, code: HTTP2ErrorCode(rawValue: code))
  }
}

/// Calls a method of the session behind a callback's user data.
/// Unretained: the session deletes the nghttp2 handle in its `deinit`, so it is alive when nghttp2 calls. It is not retained for
/// the call either, because there is a call for each header field of each answer.
private func withSession<Result>(_ data: UnsafeMutableRawPointer?, _ body: (Session) -> Result) -> Result {
  guard let data else { fatalError("nghttp2 called back without its session") }
  return Unmanaged<Session>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
}
