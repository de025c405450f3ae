/// The protocol version a request is treated as.
///
/// A higher minor version than 1.1 is treated as 1.1 (RFC 9110 section 2.5); other major versions are refused.
public enum HTTPVersion: Sendable, Equatable {
  /// HTTP/1.0: no chunks, no 100-continue, and the connection closes after the answer unless asked otherwise.
  case http10
  /// HTTP/1.1: the connection stays open unless one side says `close`.
  case http11

  /// Reads the last part of a request line.
  init(_ bytes: Span<UInt8>) throws(RequestRefusal) {
    guard bytes.count == 8, bytes.hasPrefix("HTTP/"), bytes[5].isDigit, bytes[6] == .dot, bytes[7].isDigit else {
      throw .malformedVersion
    }
    guard bytes[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    self = bytes[7] == UInt8(ascii: "0") ? .http10 : .http11
  }
}
