/// The textual form of an IPv6 address (`IPv6address`, RFC 3986 section 3.2.2).
enum IPv6Syntax {
  private static let groupCount = 8

  /// Groups of up to four hexadecimal digits between colons; `::` once, for at least one group of zeros; the last two
  /// groups may be an IPv4 address. Without zone identifiers, which mean something on one host only.
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

  /// - Returns: how many groups the part between two colons stands for; zero if it is none.
  private static func groupsTaken(_ part: Span<UInt8>, isLast: Bool) -> Int {
    if isLast, part.firstIndex(of: .dot) != nil { return isIPv4(part) ? 2 : 0 }
    guard (1...4).contains(part.count) else { return 0 }
    for index in 0..<part.count where part[index].hexadecimalValue == nil { return 0 }
    return 1
  }

  /// Four decimal numbers up to 255 without leading zeros, which some read as octal.
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
