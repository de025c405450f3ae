public import HTTP1

/// The bounds of a service; every one has a default.
public struct HTTPServiceConfiguration: Sendable {
  /// What one request may be.
  public var limits = HTTPLimits()

  /// How long peers are waited for.
  public var timeouts = HTTPTimeouts()

  /// How many connections there may be, and how many requests on each.
  public var connections = ConnectionLimits()

  /// Who else may say whom a request comes from; nobody unless set.
  public var proxies = TrustedProxies()

  /// The permissions of the file of a Unix socket.
  ///
  /// 0660: the service's user and group, so that a proxy is let in by its group and nobody else by default.
  public var unixSocketMode: UInt32 = 0o660

  /// Makes the configuration with every default in place.
  public init() {}
}

/// How many connections a service keeps, over all its reactors, each with the reason for its default.
public struct ConnectionLimits: Sendable {
  /// Open connections; above, one from the reserve is answered with 503, unless it asks for a health check.
  ///
  /// 8192: at about 1 KiB an idle connection, 8 MB; one in the middle of a request keeps a few more.
  public var totalMax = 8192

  /// Further connections that are kept for one request each, so that health checks pass while the service is full. Above,
  /// a connection is answered with 503 before it has asked anything.
  ///
  /// 64: health checks come a few at a time, and none stays longer than ``HTTPTimeouts/reserve``.
  public var reserveMax = 64

  /// Open connections of one peer, or requests in progress for one client of a trusted proxy; above, the answer is 429.
  /// Unix sockets and trusted proxies have no such limit. An IPv6 peer is its /64, the least that one host is given.
  ///
  /// 1024: an eighth of all, so that one host cannot fill the service; a database keeps a few dozen.
  public var perPeerMax = 1024

  /// Requests answered on one connection; the last answer closes it.
  ///
  /// 10 000: the kernel picks the reactor of a connection once, so long-lived ones are made to choose again now and then.
  /// At ten times nginx's default (`keepalive_requests`), the new handshakes cannot be measured.
  public var requestsMax = 10_000

  /// Bytes kept of all unfinished heads, contents and answers of requests whose caller is not settled; above, the one that
  /// grows is answered 503 and closed.
  ///
  /// 16 MiB: five hundred of the largest heads. What fits one read waits for nothing and is never refused.
  public var strangersBytesMax = 16 * 1024 * 1024

  /// The same of requests whose caller was let in; at least twice the largest content.
  ///
  /// 16 MiB: eight contents of 1 MiB at once, which have up to twice their size of room while they arrive.
  public var callersBytesMax = 16 * 1024 * 1024

  /// Makes the limits with every default in place.
  public init() {}
}

/// How long a connection waits for its peer, each with the reason for its default.
///
/// Time-outs are looked at four times within the shortest of them, at most every second; one may come that much late.
public struct HTTPTimeouts: Sendable {
  /// From accept to the end of the TLS handshake; then a close.
  ///
  /// 10 s: two round trips, with the retransmissions that `head` allows for.
  public var handshake = Duration.seconds(10)

  /// From accept, or from a head's first byte, to the head's end; then 408, or a silent close if nothing came.
  ///
  /// 10 s: three retransmissions on a bad mobile network; short enough that slow senders cannot collect connections.
  public var head = Duration.seconds(10)

  /// The same for a connection of the reserve, and for its handshake and its content.
  ///
  /// 2 s: a health check comes from nearby and is one packet.
  public var reserve = Duration.seconds(2)

  /// From the head's end to the content's end; then 408.
  ///
  /// 30 s: 1 MiB at 300 kbit/s.
  public var body = Duration.seconds(30)

  /// How slow content may be within that time: as many bytes in each second, after ``bodyGrace``; then 408. Zero for any.
  ///
  /// 1024: a tenth of the slowest mobile network; a sender of single bytes is cut off after the grace, not the whole time.
  public var bodyBytesPerSecondMin = 1024

  /// How long content may take to begin before its rate counts.
  ///
  /// 5 s: two retransmissions, as in Kestrel (`MinRequestBodyDataRate`).
  public var bodyGrace = Duration.seconds(5)

  /// Between an answer and the next request; then a silent close.
  ///
  /// 75 s: nginx's default (`keepalive_timeout`), above the 60 s after which common proxies give up theirs, so that it
  /// is the proxy who closes and no request meets a closing connection.
  public var idle = Duration.seconds(75)

  /// For the waiting answers to be taken by the peer; then a close.
  ///
  /// 30 s: answers here are small, so a peer that takes none for so long is gone.
  public var write = Duration.seconds(30)

  /// Between the last answer and the close, for the peer to stop sending (RFC 9112 section 9.6).
  ///
  /// 2 s: a round trip for any client that reads its answer.
  public var linger = Duration.seconds(2)

  /// Makes the time-outs with every default in place.
  public init() {}
}
