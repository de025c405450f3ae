/// The syntax of `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2).
///
/// An empty host and user information are refused: the first is invalid for http, the second a phishing device
/// (RFC 9110 section 4.2.4).
enum AuthoritySyntax {
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return false }
    guard bytes[0] != UInt8(ascii: "[") else { return acceptsLiteral(bytes) }
    let hostEnd = bytes.firstIndex(of: .colon) ?? bytes.count
    return acceptsName(bytes.extracting(0..<hostEnd)) && acceptsPort(bytes.extracting(hostEnd..<bytes.count))
  }

  /// An IPv6 address in brackets, by its characters: nothing here connects to it.
  private static func acceptsLiteral(_ bytes: Span<UInt8>) -> Bool {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > 2 else { return false }
    let address = bytes.extracting(1..<end)
    return address.consists(of: .addressLiteral) && address.firstIndex(of: .colon) != nil
      && acceptsPort(bytes.extracting(end + 1..<bytes.count))
  }

  private static func acceptsName(_ bytes: Span<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      if ByteSet.registeredName.contains(bytes[index]) {
        index += 1
      } else if bytes[index] == .percent, PercentEncoding.decodes(bytes, at: index, end: bytes.count) {
        index += 3
      } else {
        return false
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
