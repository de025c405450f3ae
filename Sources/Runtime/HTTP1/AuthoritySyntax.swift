/// The syntax of `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2).
///
/// An empty host and user information are refused: the first is invalid for http, the second a phishing device
/// (RFC 9110 section 4.2.4). A name may hold delimiters and percent-encoding, though no name in the DNS does: the service
/// is the same under every name, so it compares and decodes none.
enum AuthoritySyntax {
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return false }
    guard bytes[0] != UInt8(ascii: "[") else { return acceptsLiteral(bytes) }
    let hostEnd = bytes.firstIndex(of: .colon) ?? bytes.count
    return acceptsName(bytes.extracting(0..<hostEnd)) && acceptsPort(bytes.extracting(hostEnd..<bytes.count))
  }

  /// An address in brackets: version 6, since no other has a literal.
  private static func acceptsLiteral(_ bytes: Span<UInt8>) -> Bool {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
    return IPv6Syntax.accepts(bytes.extracting(1..<end)) && acceptsPort(bytes.extracting(end + 1..<bytes.count))
  }

  /// A `reg-name` that is not empty (RFC 3986 section 3.2.2).
  private static func acceptsName(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      if bytes[index] == .percent {
        guard PercentEncoding.decodes(bytes, at: index, end: bytes.count) else { return false }
        index += 3
      } else {
        guard ByteSet.hostName.contains(bytes[index]) else { return false }
        index += 1
      }
    }
    return bytes.count > 0
  }

  /// Nothing, or a colon and up to five digits that make a port; the digits may be missing.
  private static func acceptsPort(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return true }
    guard bytes[0] == .colon, bytes.count <= 6 else { return false }
    var port = 0
    for index in 1..<bytes.count {
      guard bytes[index].isDigit else { return false }
      port = port * 10 + Int(bytes[index] - 0x30)
    }
    return port <= 65535
  }
}
