/// The outcome of a request, which says whether it may be sent again.
package enum HTTP2Outcome: Sendable {
  case response(HTTP2Response)
  /// The server has provably not acted on the request, so it can be sent again without a duplicate.
  case notProcessed(HTTP2Unprocessed)
  /// The request was sent at least in part and not answered. The server may have acted on it.
  case unknown(HTTP2Uncertainty)
}

/// Why a request was provably not processed.
package enum HTTP2Unprocessed: Equatable, Sendable {
  /// The server's GOAWAY names a last stream below this one (RFC 9113 §6.8), or came before this request was sent.
  case goAway(HTTP2GoAway)
  /// The server reset the stream with REFUSED_STREAM (RFC 9113 §8.7).
  case refused
  /// The connection is draining or closed, or ended before it passed the request's first byte to TLS.
  case notSent
  /// The deadline passed before the connection passed the request's first byte to TLS.
  case deadline
  /// As many requests wait for a stream as the configuration allows.
  case queueFull
}

/// Why the outcome of a sent request is unknown.
package enum HTTP2Uncertainty: Equatable, Sendable {
  /// The stream was reset before a complete response.
  case reset(HTTP2ErrorCode)
  case connectionLost(HTTP2Error)
  /// The deadline passed, and the stream was cancelled.
  case deadline
  /// The response exceeded the configuration's limit, and the stream was cancelled.
  case responseTooLarge
}

/// A client's request. The connection adds `:scheme` and `:authority`.
package struct HTTP2Request: Sendable {
  package var method: String
  /// The target in origin form, e.g. `/3/device/00fc`.
  package var path: String
  package var fields: HTTP2Fields
  package var body: [UInt8]

  package init(method: String = "POST", path: String, fields: HTTP2Fields = HTTP2Fields(), body: [UInt8] = []) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
  }
}

/// A complete response.
package struct HTTP2Response: Sendable, Equatable {
  /// The final status, 200...599. Informational responses are skipped.
  package let status: Int
  /// The fields without `:status`. Trailers are not kept.
  package let fields: HTTP2Fields
  package let body: [UInt8]
}
