/// What the caller of a state machine does next.
///
/// Sending is not an action. The machine collects bytes in its send buffer, and the caller empties it before it waits, so the
/// answers to pipelined requests leave in one write.
package enum ConnectionAction: Sendable {
  /// Send the output, then read and call `received`. Call `deadlinePassed` when the deadline of this stretch passes.
  case read(ReadStretch)
  /// Find the request's route. Then call `routed` with its content limit, or `answered` to answer at once.
  case route(RequestHead)
  /// The request is complete: handle it, then call `answered`.
  case handle(body: [UInt8])
  /// Send the output, then close.
  case close(CloseReason)
}

/// What the peer sends next, which decides how long it may take.
package enum ReadStretch: Sendable, Equatable {
  /// Another request on a connection that has been used. It may never come.
  case idle
  /// A request head, from the connection's start or the head's first byte to the head's end.
  case head
  case body
}

package enum CloseReason: Sendable, Equatable {
  /// The last answer announced it, or the client asked for it.
  case answered
  /// A request was refused, and its answer is in the output. Indirect, so that an action takes two words.
  indirect case refused(RequestRefusal)
  /// The peer closed between two requests.
  case peerClosed
  /// No further request came in time.
  case idle
  case drained

  /// Whether the peer may still be sending. Closing at once could then destroy the answer on its way (RFC 9112 section 9.6), so
  /// shut down sending, read on for a bounded time, then close.
  package var lingers: Bool {
    switch self {
    case .answered, .refused: true
    case .peerClosed, .idle, .drained: false
    }
  }
}
