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
