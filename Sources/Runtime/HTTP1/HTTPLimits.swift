/// The bounds a connection puts on what its peer may send, each with the reason for its default.
///
/// All sizes are bytes and inclusive: a request of exactly the limit is accepted.
public struct HTTPLimits: Sendable {
  /// The request line without its line end; beyond it the answer is 414.
  ///
  /// 8 KiB (8192): RFC 9112 section 3 recommends at least 8000.
  public var requestLineBytesMax = 8 * 1024

  /// All field lines of one head together, line ends included; beyond it the answer is 431.
  ///
  /// 16 KiB (16384): room for a bearer token of 4 KiB and the cookies of a browser, and what one idle connection can
  /// make the process keep.
  public var fieldBytesMax = 16 * 1024

  /// The number of field lines of one head, and of one trailer section; beyond it the answer is 431.
  ///
  /// 100: the default of Apache httpd (`LimitRequestFields`); browsers send about 20.
  public var fieldCountMax = 100

  /// The content of a request whose route asks for no other limit; beyond it the answer is 413.
  ///
  /// 1 MiB (1048576): nginx's default (`client_max_body_size`).
  public var bodyBytesMax = 1024 * 1024

  /// The longest content of a refused request that is read and thrown away to keep the connection usable.
  ///
  /// 64 KiB (65536): cheaper to read than a new connection is to make; anything longer closes the connection.
  public var discardedBytesMax = 64 * 1024

  /// One chunk-size line with its extensions, without the line end; beyond it the answer is 413.
  ///
  /// 256: sixteen digits and a signature extension fit; nobody sends more.
  public var chunkLineBytesMax = 256

  /// All chunk extensions of one request together; beyond it the answer is 413 (RFC 9112 section 7.1.1).
  ///
  /// 16 KiB (16384): a signature of 80 on each 8 KiB chunk of a body of the default limit.
  public var chunkExtensionBytesMax = 16 * 1024

  /// Makes the limits with every default in place.
  public init() {}
}
