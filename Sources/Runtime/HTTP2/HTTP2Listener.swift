public import Reactors
public import TLSStreams

/// Accepts connections on one reactor and serves them with one handler.
public final class HTTP2Listener {
  /// Where it listens, with the port the kernel chose when port 0 was asked for.
  public let address: SocketAddress

  /// Pause after the process has run out of descriptors or memory; the next connection that closes makes room.
  private static let exhaustionPause = Duration.milliseconds(100)

  /// Nil when stopped. Connections keep the listener, and must not keep the port with it: the kernel would go on
  /// completing connections that nobody accepts.
  private var socket: ListeningSocket?
  private let context: TLSContext
  private let configuration: HTTP2ServerConfiguration
  private let handler: any HTTP2RequestHandler
  private var registration: Registration?

  /// Open or in their handshake.
  private var connections = 0

  /// Listens until ``stop(on:)``.
  /// - Parameter context: a server's, with the protocol `h2`.
  /// - Throws: ``SystemError``, e.g. `EADDRINUSE`.
  public init(
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

  /// Accepts no more and lets the port go: who comes now is refused. What has been accepted goes on.
  public func stop(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
    socket = nil
  }

  func connectionEnded() {
    connections -= 1
  }
}

extension HTTP2Listener: ReadinessHandler {
  /// Clients are waiting.
  public func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    while let socket {
      switch socket.accept() {
      case .accepted(let client, _): admit(client, on: reactor)
      case .connectionLost: continue
      case .wouldBlock: return
      case .exhausted: return pause(on: reactor)
      }
    }
  }

  /// Over the limit, and where the handler does not want it, the socket is closed by being let go.
  private func admit(_ client: Socket, on reactor: isolated Reactor) {
    guard connections < configuration.connectionsMax, handler.shouldAdmitConnection(on: reactor) else { return }
    connections += 1
    client.disableDelay()
    reactor.start { [self] in
      if await serve(client, on: reactor) == nil { connectionEnded() }
    }
  }

  /// A handshake that fails is the client's affair; the handler never hears of it.
  private func serve(_ client: Socket, on reactor: isolated Reactor) async -> HTTP2ServerConnection? {
    let stream = try? await TLSStream.accept(
      over: client, context: context, within: configuration.handshakeTimeout, on: reactor)
    guard let stream else { return nil }
    return try? HTTP2ServerConnection(
      over: stream, configuration: configuration, handler: handler, listener: self, on: reactor)
  }
}

extension HTTP2Listener: TimerHandler {
  private func pause(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
    reactor.schedule(after: HTTP2Listener.exhaustionPause, self)
  }

  /// The pause is over.
  public func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard let socket else { return }
    registration = try? reactor.register(socket.descriptor, for: .read, handler: self)
    if registration == nil { reactor.schedule(after: HTTP2Listener.exhaustionPause, self) }
  }
}

/// What a server does with its connections and requests. Called on the connection's reactor.
///
/// An answer may be given inside ``requestReceived(_:from:on:)`` or any time later.
public protocol HTTP2RequestHandler: AnyObject {
  /// A client asks for a connection, before its TLS handshake. False closes its socket without a word.
  func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool
  /// A client has connected and agreed on `h2`. The place to send it something unusual first.
  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  /// A request is complete.
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  /// The connection is over, also when this side has closed it.
  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
}

extension HTTP2RequestHandler {
  /// Admits everybody.
  public func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool { true }
  /// Does nothing.
  public func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
  /// Does nothing.
  public func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
}

/// A complete request as a server receives it.
public struct HTTP2ServerRequest: Sendable {
  /// The stream it came on, odd, rising on a connection.
  public let streamID: Int32
  /// `:method`.
  public let method: String
  /// `:path`, empty if the client sent none.
  public let path: String
  /// `:authority`, empty if the client sent none.
  public let authority: String
  /// All other fields, in their order, with duplicates.
  public let fields: HTTP2Fields
  /// The body, cut at the configuration's limit.
  public let body: [UInt8]
  /// The body's length as sent.
  public let bodyBytesReceived: Int
  /// When its last byte was read, in nanoseconds of the reactor's monotonic clock.
  public let arrival: UInt64
}
