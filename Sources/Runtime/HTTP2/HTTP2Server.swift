package import Reactors

package final class HTTP2Listener {
  /// The address it listens on, with the kernel's choice in place of port 0.
  package let address: SocketAddress

  /// The pause when the process has no descriptors or memory left. The next connection that closes makes room.
  private static let exhaustionPause = Duration.milliseconds(100)

  /// Nil when stopped. Connections keep the listener alive, but must not keep the port: the kernel would complete connections
  /// that are never accepted.
  private var socket: ListeningSocket?
  private let context: TLSContext
  private let configuration: HTTP2ServerConfiguration
  private let handler: any HTTP2RequestHandler
  private var registration: Registration?
  private var connections = 0

  /// Listens until ``stop(on:)``.
  /// - Parameter context: a server's context with the protocol `h2`.
  /// - Throws: ``SystemError``, e.g. `EADDRINUSE`.
  package init(
    on address: SocketAddress, context: TLSContext,
    configuration: HTTP2ServerConfiguration = HTTP2ServerConfiguration(), handler: any HTTP2RequestHandler,
    reactor: isolated Reactor
  ) throws(SystemError) {
    precondition(context.protocols.contains("h2"), "HTTP/2 over TLS needs ALPN h2 (RFC 9113 §3.2)")
    let socket = try ListeningSocket(on: address)
    self.socket = socket
    self.address = socket.address
    self.context = context
    self.configuration = configuration
    self.handler = handler
    registration = try reactor.register(socket.descriptor, for: .read, handler: self)
  }

  /// Closes the port, so that new connections are refused. Accepted connections go on.
  package func stop(on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    socket = nil
  }

  func connectionEnded() { connections -= 1 }
}

extension HTTP2Listener: ReadinessHandler {
  package func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    while let socket {
      switch socket.accept() {
      case .accepted(let client, _): admit(client, on: reactor)
      case .connectionLost: continue
      case .wouldBlock: return
      case .exhausted: return pause(on: reactor)
      }
    }
  }

  /// Closes the socket, by releasing it, above the limit and when the handler refuses it.
  private func admit(_ client: Socket, on reactor: isolated Reactor) {
    guard connections < configuration.connectionsMax, handler.shouldAdmitConnection(on: reactor) else { return }
    connections += 1
    client.disableDelay()
    reactor.start { [self] in
      // The handler is not told of a failed handshake.
      if (try? await serve(client, on: reactor)) == nil { connectionEnded() }
    }
  }

  private func serve(_ client: Socket, on reactor: isolated Reactor) async throws -> HTTP2ServerConnection {
    let stream = try await TLSStream.accept(
      over: client, context: context, within: configuration.handshakeTimeout, on: reactor)
    return try HTTP2ServerConnection(
      over: stream, configuration: configuration, handler: handler, listener: self, on: reactor)
  }
}

extension HTTP2Listener: TimerHandler {
  private func pause(on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    reactor.schedule(after: Self.exhaustionPause, self)
  }

  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard let socket else { return }
    registration = try? reactor.register(socket.descriptor, for: .read, handler: self)
    if registration == nil { reactor.schedule(after: Self.exhaustionPause, self) }
  }
}

/// Handles a server's connections and requests, on their reactor.
/// It may answer inside ``requestReceived(_:from:on:)`` or later.
package protocol HTTP2RequestHandler: AnyObject {
  /// A client has connected, before its TLS handshake. False closes its socket.
  func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool
  /// A client has completed its handshake with `h2`. A test server may send unusual frames first.
  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
}

extension HTTP2RequestHandler {
  package func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool { true }
  package func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
  package func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
}

package struct HTTP2ServerRequest: Sendable {
  /// The request's stream: odd, and rising on a connection.
  package let streamID: Int32
  package let method: String
  /// `:path`; empty if the client sent none.
  package let path: String
  /// `:authority`; empty if the client sent none.
  package let authority: String
  /// All other fields, in order, with duplicates.
  package let fields: HTTP2Fields
  /// The body, cut at the configuration's limit.
  package let body: [UInt8]
  /// The body's length as sent.
  package let bodyBytesReceived: Int
  /// When its last byte was read, in monotonic nanoseconds (``Reactor/now``).
  package let arrival: UInt64
}

/// A server's HTTP/2 connection, for simulators and tests. It follows the protocol, except where its owner tells it not to.
/// Belongs to one reactor, and lives until either side closes it.
package final class HTTP2ServerConnection {
  /// Concurrent requests; more are refused. See ``announce(_:on:)``.
  package private(set) var streamsMax: Int

  package var openStreams: Int { streams.count }

  package private(set) var refusedStreams = 0
  /// Whether to refuse streams above the limit. A server that only announces its limit accepts them.
  package var refusesExcessStreams: Bool

  /// The client's certificate in binary form (DER). Nil unless the listener's context asks for one and the client sends one.
  package let clientCertificate: [UInt8]?

  /// Whether to acknowledge PINGs. Without acknowledgements and other frames, a client must consider the connection half-open.
  package var acknowledgesPings: Bool {
    get { session.acknowledgesPings }
    set { session.acknowledgesPings = newValue }
  }

  private let session: Session
  private let link: Link
  private var streams: [Int32: ServerStream] = [:]
  /// Complete requests for the handler, because callbacks have no reactor.
  private var arrived: [ServerStream] = []
  private var handler: (any HTTP2RequestHandler)?
  private let listener: HTTP2Listener

  /// Starts HTTP/2 after the handshake, and announces the configuration's limits.
  /// - Parameter handler: kept until the connection ends.
  init(
    over stream: TLSStream, configuration: HTTP2ServerConfiguration, handler: any HTTP2RequestHandler,
    listener: HTTP2Listener, on reactor: isolated Reactor
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
    session.widenConnectionWindow(to: Self.connectionWindowBytes)
    try link.start(for: self, on: reactor)
    handler.connectionOpened(self, on: reactor)
  }

  /// The connection's flow-control window: 8 KiB for each of 1,000 requests.
  private static let connectionWindowBytes: Int32 = 8 * 1024 * 1024

  /// Answers a request. Answers of one tick leave together.
  /// - Returns: false when the stream has closed or has its answer.
  @discardableResult
  package func respond(
    to streamID: Int32, status: Int, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = [],
    on reactor: isolated Reactor
  ) -> Bool {
    guard let stream = streams[streamID], !stream.isAnswered else { return false }
    stream.isAnswered = true
    stream.setOutgoing(body)
    link.flushAtTickEnd(on: reactor)
    return session.respond(to: stream, status: status, fields: fields)
  }

  /// Sends SETTINGS. A limit of streams applies from now on, before the client acknowledges it.
  package func announce(_ settings: [HTTP2Setting], on reactor: isolated Reactor) {
    if let setting = settings.last(where: { $0.id == HTTP2Setting.streamsMaxID }) { streamsMax = Int(setting.value) }
    session.submit(settings, disguisingStreamsMax: true)
    link.flushAtTickEnd(on: reactor)
  }

  /// Sends GOAWAY. Streams above the last one are dropped. The others can still be answered.
  /// - Parameter lastStreamID: nil for the last received stream. `Int32.max` announces a second GOAWAY.
  /// - Returns: false when it would contradict an earlier one.
  @discardableResult
  package func goAway(
    lastStreamID: Int32? = nil, _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [],
    on reactor: isolated Reactor
  ) -> Bool {
    link.flushAtTickEnd(on: reactor)
    return session.goAway(lastStreamID: lastStreamID, code, debugData: debugData)
  }

  package func reset(_ streamID: Int32, _ code: HTTP2ErrorCode, on reactor: isolated Reactor) {
    session.reset(streamID, code)
    link.flushAtTickEnd(on: reactor)
  }

  /// Writes submitted frames before the tick's end, as far as the socket has room.
  package func flushNow(on reactor: isolated Reactor) { link.flushNow(on: reactor) }

  /// Stops reading, writing and answering PINGs, and keeps the connection open until ``closeAbruptly(on:)``. Drops unsent frames.
  package func fallSilent(on reactor: isolated Reactor) { link.freeze(on: reactor) }

  /// Closes without GOAWAY and `close_notify`, and drops unsent frames.
  package func closeAbruptly(on reactor: isolated Reactor) {
    link.close(orderly: false, on: reactor)
    forget(on: reactor)
  }

  /// Sends the submitted frames and a GOAWAY, and closes.
  package func close(on reactor: isolated Reactor) {
    session.goAway(.noError)
    link.close(orderly: true, on: reactor)
    forget(on: reactor)
  }

  private func forget(on reactor: isolated Reactor) {
    streams.removeAll()
    arrived.removeAll()
    guard let handler else { return }
    self.handler = nil
    listener.connectionEnded()
    handler.connectionClosed(self, on: reactor)
  }
}

extension HTTP2ServerConnection: LinkOwner {
  func linkWillWrite(on reactor: isolated Reactor) {}

  /// A handler may close the connection while it receives these requests.
  func linkDidRead(on reactor: isolated Reactor) {
    guard !arrived.isEmpty else { return }
    let arrival = Reactor.now
    let batch = arrived
    arrived.removeAll(keepingCapacity: true)
    for stream in batch where streams[stream.id] === stream {
      handler?.requestReceived(stream.request(arrival: arrival), from: self, on: reactor)
    }
  }

  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor) { forget(on: reactor) }
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

  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode) { streams[stream.id] = nil }

  /// A body is cut, which its length shows. nghttp2 resets a stream with a large header block.
  func messageTooLarge(_ stream: MessageStream) {}

  func requestNotSent(id: Int32, willClose: Bool) {}

  func settingsReceived(streamsMax: Int?) {}

  func goAwayReceived(_ goAway: HTTP2GoAway) {}
}
