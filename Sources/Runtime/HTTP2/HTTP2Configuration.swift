/// Limits and times of one client connection.
public struct HTTP2ClientConfiguration: Sendable {
  /// Requests on the wire at once before the server's first SETTINGS. 100 is what RFC 9113 §6.5.2 recommends servers to
  /// allow at least; APNs allows 1.
  public var initialStreamsMax = 100

  /// Requests on the wire at once, whatever the server allows.
  public var streamsMax = 1000

  /// Requests that may wait for a stream; beyond it they are refused at once. One second of work at 5,000 a second.
  public var waitingRequestsMax = 5000

  /// Bytes of one response's body. A longer one is cancelled.
  public var responseBodyBytesMax = 64 * 1024

  /// Bytes of one response's header fields, counting 8 more for each.
  public var responseFieldsBytesMax = 16 * 1024

  /// Silence of the server, while requests are on the wire, before it is asked with a PING whether it lives.
  public var silenceBeforePing = Duration.seconds(5)

  /// The same with nothing on the wire. APNs wants no more than one PING an hour.
  public var idleBeforePing = Duration.seconds(3600)

  /// The wait for any frame after a PING until the connection is suspect (``HTTP2Connection/isSuspect``). Half a second
  /// is longer than a round trip to anywhere, and leaves time to open another connection before this one is given up.
  public var pingLateAfter = Duration.milliseconds(500)

  /// The wait for any frame after a PING; then the connection is given up.
  public var pingTimeout = Duration.seconds(5)

  /// The connection drains when the next stream's id has passed this: ids are never reused, and end at 2^31 - 1.
  public var streamIDMax = Int32.max - 10_000

  /// The first stream's id, odd. Larger than 1 only to test what happens at the end of the ids.
  var firstStreamID: Int32 = 1

  /// The defaults.
  public init() {}
}

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
