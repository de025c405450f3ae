/// The alphabet of RFC 4648 §5 without padding, as JSON Web Signatures use it (RFC 7515 §2).
enum Base64URL {
  /// The bytes of a text; nil for any other character, for padding, and for a length that no bytes have.
  static func decode(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var gathered: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      guard let value = value(of: character) else { return nil }
      gathered = (gathered << 6 | value) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: gathered >> UInt32(bits)))
      }
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
