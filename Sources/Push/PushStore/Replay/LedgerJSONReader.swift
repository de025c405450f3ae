/// Reads JSON as the ledger has it, front to back.
///
/// A replay reads a million entries, and a decoder takes ten times as long. It reads what the service itself writes: words of
/// printable ASCII, whole numbers, truths, objects and lists. Anything else ends the reading, and a decoder may try.
struct LedgerJSONReader {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  /// - Parameter bytes: valid as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Whether nothing but space is left.
  var isAtEnd: Bool {
    mutating get { peek() == nil }
  }

  /// Reads an object. The body reads the value of each member, and returns whether it could.
  mutating func members(_ body: (_ name: String, _ reader: inout LedgerJSONReader) -> Bool) -> Bool {
    guard take("{") else { return false }
    if take("}") { return true }
    repeat {
      guard let name = word(), take(":"), body(name, &self) else { return false }
    } while take(",")
    return take("}")
  }

  /// Reads a list. The body reads each element, and returns whether it could.
  mutating func elements(_ body: (_ reader: inout LedgerJSONReader) -> Bool) -> Bool {
    guard take("[") else { return false }
    if take("]") { return true }
    repeat {
      guard body(&self) else { return false }
    } while take(",")
    return take("]")
  }

  /// A string without escapes.
  mutating func word() -> String? {
    guard take("\"") else { return nil }
    let start = place
    while place < bytes.count, (0x20...0x7E).contains(bytes[place]), bytes[place] != UInt8(ascii: "\\") {
      if bytes[place] == UInt8(ascii: "\"") {
        place += 1
        return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<place - 1]), as: UTF8.self)
      }
      place += 1
    }
    return nil
  }

  /// A whole number of 64 bits.
  mutating func integer() -> Int64? {
    let isNegative = take("-")
    guard let first = isNegative ? current : peek(), Self.digits.contains(first) else { return nil }
    var number: Int64 = 0
    while let digit = current, Self.digits.contains(digit) {
      let (tens, isBeyond) = number.multipliedReportingOverflow(by: 10)
      let (sum, isBeyondToo) = tens.subtractingReportingOverflow(Int64(digit &- 0x30))
      guard !isBeyond, !isBeyondToo else { return nil }
      number = sum
      place += 1
    }
    if let next = current, [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")].contains(next) { return nil }
    if isNegative { return number }
    return number == .min ? nil : -number
  }

  /// `true` or `false`.
  mutating func truth() -> Bool? {
    if take(literal: "true") { return true }
    return take(literal: "false") ? false : nil
  }

  /// Passes over a value of any shape and depth, without a look at its grammar.
  mutating func skip() -> Bool {
    var depth = 0
    repeat {
      guard let byte = peek() else { return false }
      switch byte {
      case UInt8(ascii: "\""): guard skipString() else { return false }
      case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, place) = (depth + 1, place + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, place) = (depth - 1, place + 1)
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard depth > 0 else { return false }
        place += 1
      default: skipBareValue()
      }
    } while depth > 0
    return depth == 0
  }

  private mutating func skipBareValue() {
    while let byte = current, !Self.isSpace(byte), !Self.marks.contains(byte) { place += 1 }
  }

  private mutating func skipString() -> Bool {
    place += 1
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""):
        place += 1
        return true
      case UInt8(ascii: "\\"): place += 2
      default: place += 1
      }
    }
    return false
  }

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let marks = Array(",:]}{[\"".utf8)

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private var current: UInt8? { place < bytes.count ? bytes[place] : nil }

  /// The next byte that is no space.
  private mutating func peek() -> UInt8? {
    while let byte = current {
      guard Self.isSpace(byte) else { return byte }
      place += 1
    }
    return nil
  }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: mark) else { return false }
    place += 1
    return true
  }

  private mutating func take(literal: StaticString) -> Bool {
    guard peek() != nil, bytes.count - place >= literal.utf8CodeUnitCount else { return false }
    for offset in 0..<literal.utf8CodeUnitCount where bytes[place + offset] != literal.utf8Start[offset] {
      return false
    }
    place += literal.utf8CodeUnitCount
    return true
  }
}
