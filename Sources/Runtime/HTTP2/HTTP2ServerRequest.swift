/// A complete request as a server receives it.
public struct HTTP2ServerRequest: Sendable {
  /// The stream it came on, odd, rising on a connection.
  public let streamID: Int32
  /// `:method`.
  public let method: String
  /// `:path`, empty if the client sent none.
  public let path: String
  /// `:authority`, empty if the client sent none.
  public let authority: String
  /// All other fields, in their order, with duplicates.
  public let fields: HTTP2Fields
  /// The body, cut at the configuration's limit.
  public let body: [UInt8]
  /// The body's length as sent.
  public let bodyBytesReceived: Int
  /// When its last byte was read, in nanoseconds of the reactor's monotonic clock.
  public let arrival: UInt64
}
