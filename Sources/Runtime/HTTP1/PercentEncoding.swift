/// Percent-encoded bytes (RFC 3986 section 2.1).
package enum PercentEncoding {
  /// Whether a valid encoding of anything but NUL begins at `index`. NUL ends strings in too many languages behind us.
  static func decodes(_ bytes: Span<UInt8>, at index: Int, end: Int) -> Bool {
    guard index + 2 < end, let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
    else { return false }
    return high + low > 0
  }

  /// Whether anything is encoded.
  package static func occurs(in bytes: Span<UInt8>) -> Bool { bytes.firstIndex(of: .percent) != nil }

  /// The text behind already validated bytes; `nil` if it is not UTF-8.
  ///
  /// - Parameter plusIsSpace: as in the query of an HTML form.
  package static func decode(_ bytes: Span<UInt8>, plusIsSpace: Bool = false) -> String? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == .percent, index + 2 < bytes.count, let high = bytes[index + 1].hexadecimalValue,
        let low = bytes[index + 2].hexadecimalValue
      {
        decoded.append(UInt8(high << 4 | low))
        index += 3
      } else {
        decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? .space : byte)
        index += 1
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }
}
