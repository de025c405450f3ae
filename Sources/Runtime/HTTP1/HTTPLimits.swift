/// Bounds on what a peer may send, each with the reason for its default.
///
/// Sizes are in bytes and inclusive: a request of exactly the limit is accepted.
package struct HTTPLimits: Sendable {
  /// The request line without its line end. The answer to a longer one is 414.
  ///
  /// 8 KiB (8192): RFC 9112 section 3 recommends at least 8000.
  package var requestLineBytesMax = 8 * 1024

  /// All field lines of one head together, line ends included. The answer to more is 431.
  ///
  /// 16 KiB (16384): enough for a bearer token of 4 KiB and a browser's cookies. One idle connection can make the process keep
  /// as much.
  package var fieldBytesMax = 16 * 1024

  /// Field lines of one head, and of one trailer section. The answer to more is 431.
  ///
  /// 100: Apache httpd's default (`LimitRequestFields`). Browsers send about 20.
  package var fieldCountMax = 100

  /// The content of a request whose route sets no limit. The answer to more is 413.
  ///
  /// 1 MiB (1048576): nginx's default (`client_max_body_size`).
  package var bodyBytesMax = 1024 * 1024

  /// The longest content of a refused request that is read and discarded to keep the connection. Longer content closes it.
  ///
  /// 64 KiB (65536): reading as much is cheaper than a new connection.
  package var discardedBytesMax = 64 * 1024

  /// One chunk-size line with its extensions, without the line end. The answer to a longer one is 413.
  ///
  /// 256: sixteen digits and a signature extension fit.
  package var chunkLineBytesMax = 256

  /// All chunk extensions of one request together. The answer to more is 413 (RFC 9112 section 7.1.1).
  ///
  /// 16 KiB (16384): a signature of 80 bytes on each 8 KiB chunk of a body of the default limit.
  package var chunkExtensionBytesMax = 16 * 1024

  package init() {}
}
