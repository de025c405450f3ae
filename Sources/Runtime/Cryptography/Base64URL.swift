/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
  /// The bytes of an encoded text. The empty text gives an empty array.
  /// Each sequence of bytes has exactly one accepted text (RFC 4648 sections 3.2, 3.3 and 3.5).
  /// - Parameter text: ASCII characters.
  /// - Returns: nil for padding, white space and other characters outside the alphabet, for an impossible length, and for
  ///   trailing bits that are not zero.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    if let decoded = text.withContiguousStorageIfAvailable({ decode($0) }) { return decoded }
    return Array(text).withUnsafeBufferPointer { decode($0) }
  }

  /// The text of the bytes: four characters for three bytes, rounded up to whole characters.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    if let encoded = bytes.withContiguousStorageIfAvailable({ encode($0) }) { return encoded }
    return Array(bytes).withUnsafeBufferPointer { encode($0) }
  }

  private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var isValid = true
    let bytes = [UInt8](unsafeUninitializedCapacity: text.count * 3 / 4) { output, count in
      var bits: UInt32 = 0
      var width: UInt32 = 0
      for character in text {
        guard let value = value(of: character) else { return isValid = false }
        bits = bits << 6 | value
        width += 6
        guard width >= 8 else { continue }
        width -= 8
        output[count] = UInt8(truncatingIfNeeded: bits >> width)
        count += 1
      }
      isValid = bits & (1 << width - 1) == 0
    }
    return isValid ? bytes : nil
  }

  private static func encode(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { output in
      var count = 0
      var bits: UInt32 = 0
      var width: UInt32 = 0
      func append(_ value: UInt32) {
        output[count] = character(for: UInt8(value & 63))
        count += 1
      }
      for byte in bytes {
        bits = bits << 8 | UInt32(byte)
        width += 8
        while width >= 6 {
          width -= 6
          append(bits >> width)
        }
      }
      if width > 0 { append(bits << (6 - width)) }
      return count
    }
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

  private static func character(for value: UInt8) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + value - 26
    case 52..<62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: "-")
    default: UInt8(ascii: "_")
    }
  }
}
