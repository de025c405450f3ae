/// Writes the members of one flat JSON object (RFC 8259) as UTF-8.
struct JSONObjectWriter {
  private var bytes: [UInt8] = [UInt8(ascii: "{")]

  mutating func write(_ name: String, _ value: ProblemDetails.Value) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    append(string: name)
    bytes.append(UInt8(ascii: ":"))
    switch value {
    case .string(let string): append(string: string)
    case .integer(let number): bytes.append(contentsOf: String(number).utf8)
    case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .strings(let strings): append(array: strings)
    }
  }

  consuming func finished() -> [UInt8] {
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private mutating func append(array: [String]) {
    bytes.append(UInt8(ascii: "["))
    for (index, string) in array.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      append(string: string)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  /// Quotes, backslashes and control characters must be escaped (section 7); a Swift string is valid UTF-8 already.
  private mutating func append(string: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in string.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
        bytes.append(contentsOf: String(byte, radix: 16).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
