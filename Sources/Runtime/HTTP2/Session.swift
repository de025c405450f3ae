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
  /// Submitted SETTINGS frames with a disguised limit of streams; see the extension below.
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

// Announces a limit of streams that nghttp2 does not enforce.
//
// nghttp2 fails the connection when a stream exceeds an acknowledged limit. APNs refuses only that stream, and a server must be
// able to simulate APNs. So nghttp2 gets the limit under an unknown identifier, the finished frame gets the right one, and the
// server counts its streams itself.
extension Session {
  /// An identifier that no specification assigns.
  private static let disguise: UInt16 = 0xf3f3
  /// Offsets in a SETTINGS frame (RFC 9113 §4.1, §6.5): type and flags, then entries of six bytes behind the head.
  private static let typeOffset = 3
  private static let headBytes = 9
  private static let entryBytes = 6
  /// Entries in one frame: more than there are settings.
  private static let entriesMax = 32
  static let settingsFrameBytesMax = headBytes + entriesMax * entryBytes

  /// Sends settings. nghttp2 handles the peer's acknowledgement.
  func submit(_ settings: [HTTP2Setting], disguisingStreamsMax: Bool = false) {
    precondition(settings.count <= Session.entriesMax, "a SETTINGS frame of this session has at most 32 entries")
    let entries = settings.map { setting in
      let isDisguised = disguisingStreamsMax && setting.id == HTTP2Setting.streamsMaxID
      return nghttp2_settings_entry(
        settings_id: Int32(isDisguised ? Session.disguise : setting.id), value: setting.value)
    }
    if entries.contains(where: { $0.settings_id == Int32(Session.disguise) }) { disguisedSettings += 1 }
    nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  /// Restores the identifier in a SETTINGS frame. Each chunk is one frame and begins with its head.
  func revealSettings(in chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard disguisedSettings > 0, chunk.count >= Session.headBytes + Session.entryBytes,
      chunk[Session.typeOffset] == UInt8(NGHTTP2_SETTINGS.rawValue)
    else { return chunk }
    return withRevealedFrame(chunk)
  }

  private func withRevealedFrame(_ chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let size = min(chunk.count, revealedFrame.count)
    let frame = UnsafeMutableRawBufferPointer(rebasing: revealedFrame[..<size])
    frame.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk[..<size]))
    for entry in stride(from: Session.headBytes, through: size - Session.entryBytes, by: Session.entryBytes)
    where frame.loadUnaligned(fromByteOffset: entry, as: UInt16.self) == Session.disguise.bigEndian {
      frame.storeBytes(of: HTTP2Setting.streamsMaxID.bigEndian, toByteOffset: entry, as: UInt16.self)
      disguisedSettings -= 1
    }
    return UnsafeRawBufferPointer(frame)
  }
}

package struct HTTP2Setting: Equatable, Sendable {
  package let id: UInt16
  package let value: UInt32

  package init(id: UInt16, value: UInt32) {
    self.id = id
    self.value = value
  }

  /// SETTINGS_ENABLE_PUSH off: the client accepts no server push.
  package static let noPush = HTTP2Setting(id: 2, value: 0)
  /// SETTINGS_MAX_CONCURRENT_STREAMS.
  package static func streamsMax(_ count: Int) -> HTTP2Setting { HTTP2Setting(id: 3, value: UInt32(clamping: count)) }
  /// SETTINGS_INITIAL_WINDOW_SIZE: the flow-control window of one stream.
  package static func streamWindow(_ bytes: Int) -> HTTP2Setting { HTTP2Setting(id: 4, value: UInt32(clamping: bytes)) }
  /// SETTINGS_MAX_HEADER_LIST_SIZE.
  package static func fieldsBytesMax(_ bytes: Int) -> HTTP2Setting {
    HTTP2Setting(id: 6, value: UInt32(clamping: bytes))
  }

  static let streamsMaxID: UInt16 = 3
}

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

  func ping() { nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

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

  func setNextStreamID(_ id: Int32) { nghttp2_session_set_next_stream_id(handle, id) }

  private func submitRequest(
    _ list: UnsafeBufferPointer<nghttp2_nv>, _ stream: MessageStream, hasBody: Bool
  ) -> Int32 {
    var provider = bodyProvider(of: stream)
    return withUnsafePointer(to: &provider) { provider in
      // Not retained: the delegate keeps the stream until `streamClosed`, or ends the session's input.
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

/// The messages of one stream, in both directions.
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
  func beginHead() { fields.removeAll() }

  func endHead() { isHeadComplete = true }

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

  override func endHead() { isHeadComplete = status >= 200 }
}

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
