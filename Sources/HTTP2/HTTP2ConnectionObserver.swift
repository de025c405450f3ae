public import Reactors

/// Told of a client connection's changes, on its reactor.
public protocol HTTP2ConnectionObserver: AnyObject {
  /// The state is another, or a second GOAWAY says more than the first.
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor)
}
