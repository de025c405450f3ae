public import Reactors
public import TLSStreams

/// A server's HTTP/2 connection, for simulators and tests: it serves properly, and misbehaves when its owner says so.
///
/// Belongs to one reactor, and lives until one side closes it.
public final class HTTP2ServerConnection {
  /// Requests at once; more are refused. See ``announce(_:on:)``.
  public internal(set) var streamsMax: Int

  /// Requests received and not finished.
  public var openStreams: Int { streams.count }

  /// Streams refused for being over the limit, since the start.
  public internal(set) var refusedStreams = 0

  /// Whether streams over the limit are refused; a server that only announces its limit takes them.
  public var refusesExcessStreams: Bool

  /// The client's certificate in its binary form (DER), if the listener's context asks for one and the client has one.
  public let clientCertificate: [UInt8]?

  /// Whether a PING gets its acknowledgement. Without it, and without other frames, a client must take the connection
  /// for half-open: what it sends arrives nowhere that it could know of.
  public var acknowledgesPings: Bool {
    get { session.acknowledgesPings }
    set { session.acknowledgesPings = newValue }
  }

  let session: Session
  let link: Link
  var streams: [Int32: ServerStream] = [:]
  /// Complete, and not yet shown to the handler: callbacks have no reactor.
  var arrived: [ServerStream] = []
  var handler: (any HTTP2RequestHandler)?
  private let listener: HTTP2Listener?

  /// Takes a connection over after its handshake, and announces the configuration's limits.
  /// - Parameter handler: kept until the connection is over.
  /// - Throws: ``SystemError`` when the descriptor cannot be watched.
  public convenience init(
    over stream: TLSStream, configuration: HTTP2ServerConfiguration, handler: any HTTP2RequestHandler,
    on reactor: isolated Reactor
  ) throws(SystemError) {
    try self.init(over: stream, configuration: configuration, handler: handler, listener: nil, on: reactor)
  }

  init(
    over stream: TLSStream, configuration: HTTP2ServerConfiguration, handler: any HTTP2RequestHandler,
    listener: HTTP2Listener?, on reactor: isolated Reactor
  ) throws(SystemError) {
    session = .server(
      limits: Session.Limits(
        fieldsBytesMax: configuration.requestFieldsBytesMax, bodyBytesMax: configuration.requestBodyBytesMax))
    link = Link(stream, session)
    streamsMax = configuration.streamsMax
    refusesExcessStreams = configuration.refusesExcessStreams
    clientCertificate = stream.peerCertificate
    self.handler = handler
    self.listener = listener
    session.delegate = self
    session.submit(
      [.streamsMax(streamsMax), .fieldsBytesMax(configuration.requestFieldsBytesMax)], disguisingStreamsMax: true)
    session.widenConnectionWindow(to: HTTP2ServerConnection.connectionWindowBytes)
    try link.start(for: self, on: reactor)
    handler.connectionOpened(self, on: reactor)
  }

  /// Bytes a client may send ahead on all streams: 8 KiB for each of 1,000 requests.
  private static let connectionWindowBytes: Int32 = 8 * 1024 * 1024

  /// Answers a request. Answers of one tick leave together.
  /// - Returns: false when the stream is gone or has its answer.
  @discardableResult
  public func respond(
    to streamID: Int32, status: Int, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = [],
    on reactor: isolated Reactor
  ) -> Bool {
    guard let stream = streams[streamID], !stream.isAnswered else { return false }
    stream.isAnswered = true
    stream.setOutgoing(body)
    link.flushAtTickEnd(on: reactor)
    return session.respond(to: stream, status: status, fields: fields)
  }

  /// Sends SETTINGS. A limit of streams holds from now on, before the client has acknowledged it.
  public func announce(_ settings: [HTTP2Setting], on reactor: isolated Reactor) {
    if let setting = settings.last(where: { $0.id == HTTP2Setting.streamsMaxID }) { streamsMax = Int(setting.value) }
    session.submit(settings, disguisingStreamsMax: true)
    link.flushAtTickEnd(on: reactor)
  }

  /// Sends GOAWAY; streams above the last one are forgotten, the others can still be answered.
  /// - Parameter lastStreamID: nil for the last one received; `Int32.max` announces that another GOAWAY follows.
  /// - Returns: false when it would contradict an earlier one.
  @discardableResult
  public func goAway(
    lastStreamID: Int32? = nil, _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [],
    on reactor: isolated Reactor
  ) -> Bool {
    link.flushAtTickEnd(on: reactor)
    return session.goAway(lastStreamID: lastStreamID, code, debugData: debugData)
  }

  /// Resets one stream.
  public func reset(_ streamID: Int32, _ code: HTTP2ErrorCode, on reactor: isolated Reactor) {
    session.reset(streamID, code)
    link.flushAtTickEnd(on: reactor)
  }

  /// Writes what has been submitted without waiting for the tick's end, as far as there is room.
  public func flushNow(on reactor: isolated Reactor) {
    link.flushNow(on: reactor)
  }

  /// Falls silent for good: reads nothing, answers nothing, not even PING, and keeps the connection open until
  /// ``closeAbruptly(on:)``. What was still to be sent is not.
  public func fallSilent(on reactor: isolated Reactor) {
    link.freeze(on: reactor)
  }

  /// Closes without a word: no GOAWAY, no `close_notify`, nothing of what was still to be sent.
  public func closeAbruptly(on reactor: isolated Reactor) {
    link.close(orderly: false, on: reactor)
    forget(on: reactor)
  }

  /// Sends what is there, with a GOAWAY, and closes.
  public func close(on reactor: isolated Reactor) {
    session.goAway(.noError)
    link.close(orderly: true, on: reactor)
    forget(on: reactor)
  }

  func forget(on reactor: isolated Reactor) {
    streams.removeAll()
    arrived.removeAll()
    guard let handler else { return }
    self.handler = nil
    listener?.connectionEnded()
    handler.connectionClosed(self, on: reactor)
  }
}

extension HTTP2ServerConnection: LinkOwner {
  func linkWillWrite(on reactor: isolated Reactor) {}

  /// A handler may close the connection while requests are still being shown to it.
  func linkDidRead(on reactor: isolated Reactor) {
    guard !arrived.isEmpty else { return }
    let arrival = Reactor.now
    let batch = arrived
    arrived.removeAll(keepingCapacity: true)
    for stream in batch where streams[stream.id] === stream {
      handler?.requestReceived(stream.request(arrival: arrival), from: self, on: reactor)
    }
  }

  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor) {
    forget(on: reactor)
  }
}

extension HTTP2ServerConnection: SessionDelegate {
  func streamOpened(_ id: Int32) -> MessageStream? {
    guard streams.count < streamsMax || !refusesExcessStreams else {
      refusedStreams += 1
      session.reset(id, .refusedStream)
      return nil
    }
    let stream = ServerStream()
    streams[id] = stream
    return stream
  }

  func messageCompleted(_ stream: MessageStream) {
    if let stream = streams[stream.id] { arrived.append(stream) }
  }

  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode) {
    streams[stream.id] = nil
  }

  /// A body is cut, and its length tells. A header block is nghttp2's to reset.
  func messageTooLarge(_ stream: MessageStream) {}

  func requestNotSent(id: Int32, willClose: Bool) {}

  func settingsReceived(streamsMax: Int?) {}

  func goAwayReceived(_ goAway: HTTP2GoAway) {}
}
