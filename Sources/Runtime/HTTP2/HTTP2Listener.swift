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
