/// How single bytes of text are written inside a JSON string (RFC 8259 §7).
enum JSONEscape {
  static func isNeeded(for byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Bytes that one byte of text takes in the document.
  static func width(of byte: UInt8) -> Int {
    guard isNeeded(for: byte) else { return 1 }
    return shortForm(of: byte) == nil ? 6 : 2
  }

  static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    if let letter = shortForm(of: byte) {
      bytes.append(letter)
      return
    }
    bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
    bytes.append(HexadecimalDigits.lowerCase(byte >> 4))
    bytes.append(HexadecimalDigits.lowerCase(byte & 0x0F))
  }

  private static func shortForm(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0A: UInt8(ascii: "n")
    case 0x0C: UInt8(ascii: "f")
    case 0x0D: UInt8(ascii: "r")
    default: nil
    }
  }
}
