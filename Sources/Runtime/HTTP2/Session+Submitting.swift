internal import CNghttp2

// Submits frames. They leave through ``Session/nextChunk()``.
extension Session {
  /// nghttp2 reads static names in place. They must be lower-case, because it cannot convert them there.
  private static var scheme: nghttp2_nv { nameValue(":scheme", "https") }
  private static var staticName: UInt8 { UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue) }

  /// Starts a request on a new stream, and sets the stream's id.
  /// - Returns: false when nghttp2 has no stream ids left.
  func submit(_ request: HTTP2Request, authority: [UInt8], as stream: MessageStream) -> Bool {
    var method = request.method
    var path = request.path
    let hasBody = !request.body.isEmpty  // Otherwise the closures would copy the whole request.
    let fields = request.fields
    let id = method.withUTF8 { method in
      path.withUTF8 { path in
        authority.withUnsafeBufferPointer { authority in
          withNameValues(
            [
              Session.nameValue(":method", method), Session.scheme, Session.nameValue(":authority", authority),
              Session.nameValue(":path", path),
            ], fields
          ) { list in submitRequest(list, stream, hasBody: hasBody) }
        }
      }
    }
    if id > 0 { stream.id = id }
    return id > 0
  }

  /// Answers a request.
  /// - Returns: false when the stream has closed.
  func respond(to stream: MessageStream, status: Int, fields: HTTP2Fields) -> Bool {
    var text = String(status)
    let code = text.withUTF8 { status in
      withNameValues([Session.nameValue(":status", status)], fields) { list in
        var provider = bodyProvider(of: stream)
        return withUnsafePointer(to: &provider) { provider in
          nghttp2_submit_response(
            handle, stream.id, list.baseAddress, list.count, stream.outgoing.isEmpty ? nil : provider)
        }
      }
    }
    return code == 0
  }

  func reset(_ id: Int32, _ code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
  }

  func ping() {
    nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Sends GOAWAY.
  /// - Parameter lastStreamID: nil for the last stream that this side has processed.
  /// - Returns: false when nghttp2 refuses it, e.g. for a last stream above an earlier GOAWAY's.
  @discardableResult
  func goAway(lastStreamID: Int32? = nil, _ code: HTTP2ErrorCode, debugData: [UInt8] = []) -> Bool {
    if lastStreamID == Int32.max && code == .noError && debugData.isEmpty {
      // The first of two. Unlike an ordinary GOAWAY, nghttp2 still accepts streams after it.
      return nghttp2_submit_shutdown_notice(handle) == 0
    }
    let last = lastStreamID ?? nghttp2_session_get_last_proc_stream_id(handle)
    return nghttp2_submit_goaway(
      handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code.rawValue, debugData, debugData.count) == 0
  }

  /// Widens the connection's flow-control window beyond the initial 65,535 bytes.
  func widenConnectionWindow(to bytes: Int32) {
    nghttp2_session_set_local_window_size(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, bytes)
  }

  var nextStreamID: UInt32 { nghttp2_session_get_next_stream_id(handle) }

  func setNextStreamID(_ id: Int32) {
    nghttp2_session_set_next_stream_id(handle, id)
  }

  private func submitRequest(
    _ list: UnsafeBufferPointer<nghttp2_nv>, _ stream: MessageStream, hasBody: Bool
  ) -> Int32 {
    var provider = bodyProvider(of: stream)
    return withUnsafePointer(to: &provider) { provider in
      nghttp2_submit_request(
        handle, nil, list.baseAddress, list.count, hasBody ? provider : nil,
        Unmanaged.passUnretained(stream).toOpaque())
    }
  }

  /// nghttp2 asks for the body while the stream is open, which is while the connection's table holds it.
  private func bodyProvider(of stream: MessageStream) -> nghttp2_data_provider {
    cnghttp2_data_provider(Unmanaged.passUnretained(stream).toOpaque()) { _, _, buffer, length, flags, source, _ in
      guard let data = source?.pointee.ptr else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
      let stream = Unmanaged<MessageStream>.fromOpaque(data).takeUnretainedValue()
      let part = stream.copyOutgoing(into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
      if part.isLast { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
      return part.count
    }
  }
}

// Header lists for nghttp2. It copies names and values before the call returns, unless they are marked otherwise.
extension Session {
  private func withNameValues(
    _ pseudo: [nghttp2_nv], _ fields: HTTP2Fields, _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32
  ) -> Int32 {
    let count = pseudo.count + fields.count
    return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: count) { list in
      _ = list.initialize(from: pseudo)
      return fields.withPackedBytes { packed in
        var offset = 0
        for index in pseudo.count..<count {
          list.initializeElement(at: index, to: Session.nameValue(PackedField(in: packed, at: &offset)))
        }
        return body(UnsafeBufferPointer(list))
      }
    }
  }

  private static func nameValue(_ field: PackedField) -> nghttp2_nv {
    let flag = field.isIndexed ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
    return nghttp2_nv(
      name: bytes(field.name), value: bytes(field.value), namelen: field.name.count, valuelen: field.value.count,
      flags: UInt8(flag.rawValue))
  }

  private static func nameValue(_ name: StaticString, _ value: UnsafeBufferPointer<UInt8>) -> nghttp2_nv {
    nghttp2_nv(
      name: UnsafeMutablePointer(mutating: name.utf8Start), value: UnsafeMutablePointer(mutating: value.baseAddress),
      namelen: name.utf8CodeUnitCount, valuelen: value.count, flags: staticName)
  }

  private static func nameValue(_ name: StaticString, _ value: StaticString) -> nghttp2_nv {
    nameValue(name, UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
  }

  /// nghttp2 only reads through its mutable pointers.
  private static func bytes(_ source: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    UnsafeMutablePointer(mutating: source.assumingMemoryBound(to: UInt8.self).baseAddress)
  }
}
