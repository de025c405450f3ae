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
