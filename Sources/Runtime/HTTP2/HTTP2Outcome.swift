/// What became of a request: the three cases differ in whether it may be sent again.
public enum HTTP2Outcome: Sendable {
  /// The server has answered completely.
  case response(HTTP2Response)
  /// The server has provably not acted on it: sending it again, on this or another connection, cannot double it.
  case notProcessed(HTTP2Unprocessed)
  /// Sent at least in part, and not answered: the server may have acted on it or not.
  case unknown(HTTP2Uncertainty)
}

/// Why a request was provably not processed.
public enum HTTP2Unprocessed: Equatable, Sendable {
  /// The server's GOAWAY names a last stream below this one (RFC 9113 §6.8), or came before this request was sent.
  case goAway(HTTP2GoAway)
  /// The server reset the stream with REFUSED_STREAM (RFC 9113 §8.7).
  case refused
  /// The connection is draining or closed, or ended before the request's first byte was handed to TLS.
  case notSent
  /// The time limit passed before the request's first byte was handed to TLS.
  case deadline
  /// As many requests wait for a stream as the configuration allows.
  case queueFull
}

/// Why nothing is known of a request that was sent.
public enum HTTP2Uncertainty: Equatable, Sendable {
  /// The stream was reset before a complete response.
  case reset(HTTP2ErrorCode)
  /// The connection ended; the error that ended it.
  case connectionLost(HTTP2Error)
  /// The time limit passed; the stream has been cancelled.
  case deadline
  /// The response was longer than the configuration allows; the stream has been cancelled.
  case responseTooLarge
}

/// A request as a client sends it. The connection adds `:scheme` and `:authority`.
public struct HTTP2Request: Sendable {
  /// The method, e.g. `POST`.
  public var method: String
  /// The target in origin form, e.g. `/3/device/00fc`.
  public var path: String
  /// All other fields.
  public var fields: HTTP2Fields
  /// The body, empty for none.
  public var body: [UInt8]

  /// Makes a request.
  public init(method: String = "POST", path: String, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
  }
}

/// A complete response.
public struct HTTP2Response: Sendable, Equatable {
  /// The final status, 200...599; informational responses are passed over.
  public let status: Int
  /// The fields without `:status`; trailers are not kept.
  public let fields: HTTP2Fields
  /// The whole body.
  public let body: [UInt8]
}
