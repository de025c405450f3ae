public import Reactors

/// Told of a client connection's changes, on its reactor.
public protocol HTTP2ConnectionObserver: AnyObject {
  /// The state is another, or a second GOAWAY says more than the first.
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor)

  /// The server allows another number of streams (``HTTP2Connection/streamsMax``), or the connection has become suspect
  /// or is so no longer (``HTTP2Connection/isSuspect``).
  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor)
}

extension HTTP2ConnectionObserver {
  /// Does nothing.
  public func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {}
}
