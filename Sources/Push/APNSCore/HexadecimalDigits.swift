/// The digits of hexadecimal text as ASCII bytes.
package enum HexadecimalDigits {
  /// The digit of a number below 16. Arithmetic, because a table in a global has to be asked for each digit whether it has been
  /// made.
  static func lowerCase(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") &+ number : UInt8(ascii: "a") &- 10 &+ number
  }

  /// Sixteen bytes as a UUID's text: 8-4-4-4-12 digits in lower case, as PostgreSQL prints and APNs documents it. Every push
  /// needs several; Foundation formats each byte by `snprintf`.
  package static func uuid(_ byte: (_ index: Int) -> UInt8) -> String {
    String(unsafeUninitializedCapacity: 36) { text in
      var position = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[position] = UInt8(ascii: "-")
          position += 1
        }
        let byte = byte(index)
        text[position] = lowerCase(byte >> 4)
        text[position + 1] = lowerCase(byte & 0x0F)
        position += 2
      }
      return position
    }
  }
}
