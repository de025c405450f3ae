internal import FoundationEssentials

extension UUID {
  /// The form that PostgreSQL prints and APNs documents. Every push needs several, and `uuidString` formats each byte by
  /// `snprintf`.
  package var lowercased: String {
    withUnsafeBytes(of: uuid) { bytes in
      String(unsafeUninitializedCapacity: 36) { text in
        var position = 0
        for (index, byte) in bytes.enumerated() {
          if index == 4 || index == 6 || index == 8 || index == 10 {
            text[position] = UInt8(ascii: "-")
            position += 1
          }
          text[position] = Self.digit(byte >> 4)
          text[position + 1] = Self.digit(byte & 0x0F)
          position += 2
        }
        return position
      }
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
