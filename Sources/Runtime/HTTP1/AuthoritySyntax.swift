/// The syntax of `uri-host [ ":" port ]` (RFC 9110 section 7.2, RFC 3986 section 3.2).
///
/// Refuses an empty host, which is invalid for http, and user information, which serves phishing (RFC 9110 section 4.2.4). A
/// name may hold delimiters and percent-encoding, although DNS names do not: the service answers under every name, so it
/// neither compares nor decodes names.
enum AuthoritySyntax {
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count > 0 else { return false }
    guard bytes[0] != UInt8(ascii: "[") else { return acceptsLiteral(bytes) }
    let hostEnd = bytes.firstIndex(of: .colon) ?? bytes.count
    return acceptsName(bytes.extracting(0..<hostEnd)) && acceptsPort(bytes.extracting(hostEnd..<bytes.count))
  }

  /// An IPv6 address in brackets.
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

  /// Nothing, or a colon and a port of up to five digits. The digits may be missing.
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

/// The textual form of an IPv6 address (`IPv6address`, RFC 3986 section 3.2.2).
enum IPv6Syntax {
  private static let groupCount = 8

  /// Accepts groups of up to four hexadecimal digits between colons. `::` may occur once, for at least one group of zeros. An
  /// IPv4 address may replace the last two groups. Zone identifiers are refused, because they are local to one host.
  static func accepts(_ bytes: Span<UInt8>) -> Bool {
    var groups = 0
    var hasGap = bytes.hasPrefix("::")
    var index = hasGap ? 2 : 0
    while index < bytes.count {
      let end = bytes.firstIndex(of: .colon, from: index) ?? bytes.count
      let taken = groupsTaken(bytes.extracting(index..<end), isLast: end == bytes.count)
      guard taken > 0 else { return false }
      groups += taken
      guard end < bytes.count else { break }
      index = end + 1
      guard index < bytes.count else { return false }
      guard bytes[index] == .colon else { continue }
      guard !hasGap else { return false }
      hasGap = true
      index += 1
    }
    return hasGap ? groups < groupCount : groups == groupCount
  }

  /// - Returns: how many groups the part between two colons is; zero if it is malformed.
  private static func groupsTaken(_ part: Span<UInt8>, isLast: Bool) -> Int {
    if isLast, part.firstIndex(of: .dot) != nil { return isIPv4(part) ? 2 : 0 }
    guard (1...4).contains(part.count) else { return 0 }
    for index in 0..<part.count where part[index].hexadecimalValue == nil { return 0 }
    return 1
  }

  /// Four decimal numbers up to 255 without leading zeros, which some parsers read as octal.
  private static func isIPv4(_ bytes: Span<UInt8>) -> Bool {
    var numbers = 0
    var start = 0
    while start <= bytes.count {
      let end = bytes.firstIndex(of: .dot, from: start) ?? bytes.count
      guard isOctet(bytes.extracting(start..<end)) else { return false }
      numbers += 1
      start = end + 1
    }
    return numbers == 4
  }

  private static func isOctet(_ digits: Span<UInt8>) -> Bool {
    guard (1...3).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0") else { return false }
    var value = 0
    for index in 0..<digits.count {
      guard digits[index].isDigit else { return false }
      value = value * 10 + Int(digits[index] - 0x30)
    }
    return value <= 255
  }
}
