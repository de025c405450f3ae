internal import CNghttp2

/// An error code on the wire (RFC 9113 §7); unknown numbers are kept.
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The number on the wire.
  public let rawValue: UInt32

  /// Makes a code from its number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// NO_ERROR, an orderly end.
  public static let noError = HTTP2ErrorCode(rawValue: 0)
  /// PROTOCOL_ERROR.
  public static let protocolError = HTTP2ErrorCode(rawValue: 1)
  /// INTERNAL_ERROR.
  public static let internalError = HTTP2ErrorCode(rawValue: 2)
  /// STREAM_CLOSED: a frame for a stream that is over.
  public static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  /// REFUSED_STREAM: not processed, safe to send again.
  public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  /// CANCEL: no longer wanted.
  public static let cancel = HTTP2ErrorCode(rawValue: 8)
  /// ENHANCE_YOUR_CALM: too much load.
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)

  /// The name in the RFC, or `unknown`, with the number.
  public var description: String { "\(String(cString: nghttp2_http2_strerror(rawValue))) (\(rawValue))" }
}
