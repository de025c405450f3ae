internal import CNghttp2
package import Reactors

/// Why a connection ended.
package enum HTTP2Error: Error, Equatable, Sendable, CustomStringConvertible {
  /// TLS or the socket failed.
  case transport(TLSError)
  /// The reactor can no longer watch the descriptor.
  case system(SystemError)
  /// The peer closed the connection in an orderly way.
  case closedByPeer
  case closedLocally
  /// The last request of a draining connection is done.
  case drained
  /// A PING went unanswered: the connection is dead or the peer is stuck.
  case unresponsive
  /// The peer broke the protocol. The text is nghttp2's.
  case protocolViolation(String)

  package var description: String {
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

/// An error code on the wire (RFC 9113 §7). Unknown numbers are kept.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// NO_ERROR, an orderly end.
  package static let noError = HTTP2ErrorCode(rawValue: 0)
  package static let protocolError = HTTP2ErrorCode(rawValue: 1)
  package static let internalError = HTTP2ErrorCode(rawValue: 2)
  /// STREAM_CLOSED: a frame for a stream that is over.
  package static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  /// REFUSED_STREAM: not processed, safe to send again.
  package static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  /// CANCEL: no longer wanted.
  package static let cancel = HTTP2ErrorCode(rawValue: 8)

  /// The name in the RFC, or `unknown`, with the number.
  package var description: String { "\(String(cString: nghttp2_http2_strerror(rawValue))) (\(rawValue))" }
}

/// A server's GOAWAY: it takes no more streams (RFC 9113 §6.8).
package struct HTTP2GoAway: Equatable, Sendable {
  /// The server will not process streams above this. `Int32.max` announces a second GOAWAY.
  package let lastStreamID: Int32
  package let code: HTTP2ErrorCode
  /// Opaque bytes, often text. APNs sends JSON with a `reason`. At most 4,096 bytes are kept.
  package let debugData: [UInt8]

  static let debugDataBytesMax = 4096
}
