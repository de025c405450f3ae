/// How the end of a request's content is found (RFC 9112 section 6.3).
public enum MessageFraming: Sendable, Equatable {
  /// Neither Content-Length nor Transfer-Encoding: there is no content.
  case none
  /// Exactly this many bytes follow the head; may be zero.
  case length(Int)
  /// Chunks follow until the chunk of size zero and its trailer section.
  case chunked

  /// Whether any byte of content is still to come after the head.
  public var expectsContent: Bool {
    switch self {
    case .none, .length(0): false
    case .length, .chunked: true
    }
  }
}
