/// Limits of one server connection.
public struct HTTP2ServerConfiguration: Sendable {
  /// Requests at once, announced in SETTINGS.
  public var streamsMax = 1000

  /// Whether streams beyond it are refused, with REFUSED_STREAM.
  public var refusesExcessStreams = true

  /// Bytes of a request's body that are kept; the rest is counted and dropped, so that a handler can answer 413.
  public var requestBodyBytesMax = 64 * 1024

  /// Bytes of a request's header fields, counting 8 more for each; a stream with more is reset.
  public var requestFieldsBytesMax = 64 * 1024

  /// Time for a client's TLS handshake.
  public var handshakeTimeout = Duration.seconds(10)

  /// Connections of one listener, those in their handshake included; more are closed at once.
  public var connectionsMax = 1000

  /// The defaults.
  public init() {}
}
