package import Reactors

/// Accepts connections on one reactor and serves them with one handler.
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

  /// Connections that are open or in their handshake.
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

  func connectionEnded() {
    connections -= 1
  }
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
      if await serve(client, on: reactor) == nil { connectionEnded() }
    }
  }

  /// Ignores a failed handshake: the handler is not told of it.
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
///
/// It may answer inside ``requestReceived(_:from:on:)`` or later.
package protocol HTTP2RequestHandler: AnyObject {
  /// A client has connected, before its TLS handshake. False closes its socket.
  func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool
  /// A client has completed its handshake with `h2`. A test server may send unusual frames first.
  func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  /// A request is complete.
  func requestReceived(
    _ request: HTTP2ServerRequest, from connection: HTTP2ServerConnection, on reactor: isolated Reactor)
  /// The connection has ended, by either side.
  func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor)
}

extension HTTP2RequestHandler {
  package func shouldAdmitConnection(on reactor: isolated Reactor) -> Bool { true }
  package func connectionOpened(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
  package func connectionClosed(_ connection: HTTP2ServerConnection, on reactor: isolated Reactor) {}
}

/// A complete request as a server receives it.
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
