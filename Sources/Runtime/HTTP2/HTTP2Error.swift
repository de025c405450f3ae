public import Reactors
public import TLSStreams

/// Why a connection ended.
public enum HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
  /// TLS or the socket failed.
  case transport(TLSError)
  /// The descriptor can no longer be watched.
  case system(SystemError)
  /// The peer closed the connection in an orderly way.
  case closedByPeer
  /// This side closed it.
  case closedLocally
  /// After a GOAWAY, nothing was left to do.
  case drained
  /// A PING went unanswered: the connection is dead or the peer is stuck.
  case unresponsive
  /// The peer broke HTTP/2; the text is nghttp2's.
  case protocolViolation(String)

  /// One line for a log.
  public var description: String {
    switch self {
    case .transport(let error): "\(error)"
    case .system(let error): "\(error)"
    case .closedByPeer: "the peer closed the connection"
    case .closedLocally: "closed on this side"
    case .drained: "drained"
    case .unresponsive: "a PING was not answered in time"
    case .protocolViolation(let text): "HTTP/2 violation: \(text)"
    }
  }
}
