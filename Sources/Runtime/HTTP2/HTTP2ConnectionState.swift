/// The life of a client connection, in order; `closed` is final.
public enum HTTP2ConnectionState: Equatable, Sendable {
  /// Requests are taken.
  case ready
  /// No new requests; those on the wire may still be answered. The connection closes itself after the last.
  case draining(HTTP2DrainReason)
  /// The end. Every request has its outcome.
  case closed(HTTP2Error)
}

/// Why a connection takes no new requests.
public enum HTTP2DrainReason: Equatable, Sendable {
  /// The server said so.
  case goAway(HTTP2GoAway)
  /// The stream ids are used up.
  case streamIDsExhausted
  /// The owner asked for it.
  case requested
}
