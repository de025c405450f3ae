public import Reactors

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
