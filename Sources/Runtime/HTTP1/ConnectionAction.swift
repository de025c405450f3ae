/// What the outside is to do next for a connection.
///
/// Bytes to send are no action: they gather in the machine's send buffer, which the outside empties before it waits for
/// anything, so the answers to pipelined requests leave in one write.
public enum ConnectionAction: Sendable {
  /// Send what waits, then read and call `received`; when the deadline of this stretch passes, call `deadlinePassed`.
  case read(ReadStretch)
  /// Find out who answers the request, then call `routed` with the content limit, or `answered` to answer at once.
  case route(RequestHead)
  /// The request is complete: have it handled, then call `answered`.
  case handle(body: [UInt8])
  /// Send what waits, then close.
  case close(CloseReason)
}

/// What the peer is expected to send, which decides how long it may take.
public enum ReadStretch: Sendable, Equatable {
  /// A new request, some time, on a connection that has been used.
  case idle
  /// A request head; begins with the connection or with the head's first byte, and lasts to the head's end.
  case head
  /// A request's content; lasts to its end.
  case body
}

/// Why a connection is closed.
public enum CloseReason: Sendable, Equatable {
  /// The last answer said so, or the client asked for it.
  case answered
  /// A request could not be processed; its answer waits to be sent. Kept apart, so that an action takes two words.
  indirect case refused(RequestRefusal)
  /// The peer closed between two requests.
  case peerClosed
  /// No request came in time.
  case idle
  /// The server is going away.
  case drained

  /// Whether the peer may still be sending: a close at once could destroy the answer on its way
  /// (RFC 9112 section 9.6), so shut down sending, read on for a bounded while, then close.
  public var lingers: Bool {
    switch self {
    case .answered, .refused: true
    case .peerClosed, .idle, .drained: false
    }
  }
}
