internal import FoundationEssentials

/// Base64 for URLs (RFC 4648 section 5) as RFC 7515 section 2 wants it: without padding, white space or other letters, and in
/// the one spelling that each content has.
enum Base64URL {
  static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    let text = Array(text)
    var standard = text.map(standardLetter)
    standard += [UInt8](repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
    // Encoded anew it is the same, or it had letters, padding or bits that do not belong there.
    guard let data = Data(base64Encoded: Data(standard)), encode(Array(data)) == text else { return nil }
    return Array(data)
  }

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    Data(bytes).base64EncodedData().filter { $0 != UInt8(ascii: "=") }.map(urlLetter)
  }

  private static func standardLetter(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: letter
    }
  }

  private static func urlLetter(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "+"): UInt8(ascii: "-")
    case UInt8(ascii: "/"): UInt8(ascii: "_")
    default: letter
    }
  }
}
