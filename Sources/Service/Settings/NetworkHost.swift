/// The names that hosts can have.
enum NetworkHost {
  /// Whether a text is a host name or an IPv4 address: letters, digits, hyphens, underscores and dots (RFC 1123 §2.1,
  /// and the underscore that container networks use).
  static func isName(_ text: some StringProtocol) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
