/// How large and how odd a JSON document may be that another party wrote.
package struct JSONLimits: Sendable {
  /// Arrays and objects inside each other.
  package var depthMax: Int
  /// Values of all kinds, the members of objects included.
  package var elementsMax: Int
  /// Whether an integer that 64 bits do not hold may lose digits, and texts have U+0000 and any number of combining marks;
  /// otherwise all three are refused.
  package var losesDigits: Bool

  package init(depthMax: Int, elementsMax: Int, losesDigits: Bool = false) {
    self.depthMax = depthMax
    self.elementsMax = elementsMax
    self.losesDigits = losesDigits
  }

  /// The most combining marks that follow one another in a text. Swift compares texts as if their marks were in canonical order,
  /// which takes quadratic time: a second for 60 KB of them. Source: Unicode's Stream-Safe Text Format (UAX #15 section 13).
  package static let marksMax = 30
  /// Far more than any operation needs.
  package static let client = JSONLimits(depthMax: 16, elementsMax: 2000)
  /// For rows of the host's tables, whose columns may be anything: most of it is not looked at.
  package static let hostRow = JSONLimits(depthMax: 64, elementsMax: 200_000, losesDigits: true)
}

/// Why a text is no JSON document that is read.
package struct JSONFault: Error, Equatable, Sendable {
  package enum Code: Sendable {
    /// Not JSON (RFC 8259) in UTF-8.
    case malformed
    case tooDeep
    case tooManyElements
    /// A number that a `Double` does not hold, or an integer that would lose digits.
    case numberTooLarge
    /// A text, or the name of a member, with U+0000, which PostgreSQL's texts cannot hold.
    case nullCharacter
    /// A text, or the name of a member, with more combining marks in a row than any language has.
    case tooManyMarks
  }

  package let code: Code
  /// Names of members and places in arrays, from the outermost; empty for the whole document.
  package internal(set) var path: [String] = []
}

extension PayloadValue {
  /// Reads a whole document in one pass: the kind of a value is known by its first byte, so nothing is tried twice.
  ///
  /// Of members with equal names the first counts; members are put in the order of their names' bytes.
  package init(json: [UInt8], limits: JSONLimits = .client) throws(JSONFault) {
    var reader = PayloadReader(bytes: json, limits: limits)
    self = try reader.document()
  }
}

private struct PayloadReader {
  let bytes: [UInt8]
  let limits: JSONLimits
  private var position = 0
  private var elements = 0

  init(bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  private static let malformed = JSONFault(code: .malformed)

  mutating func document() throws(JSONFault) -> PayloadValue {
    let value = try value(depth: 0)
    guard next() == nil else { throw Self.malformed }
    return value
  }

  /// The next byte that is no white space, which stays.
  private mutating func next() -> UInt8? {
    while position < bytes.count {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      position += 1
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next() == byte else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONFault) -> PayloadValue {
    elements += 1
    guard elements <= limits.elementsMax else { throw JSONFault(code: .tooManyElements) }
    switch next() {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try text())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ word: StaticString, _ value: PayloadValue) throws(JSONFault) -> PayloadValue {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual(word.description.utf8) else { throw Self.malformed }
    position = end
    return value
  }

  private mutating func array(depth: Int) throws(JSONFault) -> [PayloadValue] {
    guard depth <= limits.depthMax else { throw JSONFault(code: .tooDeep) }
    position += 1
    var values: [PayloadValue] = []
    if take(UInt8(ascii: "]")) { return values }
    while true {
      do throws(JSONFault) {
        values.append(try value(depth: depth))
      } catch {
        throw error.inside("[\(values.count)]")
      }
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "]")) else { throw Self.malformed }
      return values
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> PayloadObject {
    guard depth <= limits.depthMax else { throw JSONFault(code: .tooDeep) }
    position += 1
    var members: [(key: String, value: PayloadValue)] = []
    if take(UInt8(ascii: "}")) { return PayloadObject() }
    while true {
      guard next() == UInt8(ascii: "\"") else { throw Self.malformed }
      let name = try text()
      guard take(UInt8(ascii: ":")) else { throw Self.malformed }
      do throws(JSONFault) {
        let value = try value(depth: depth)
        // In a row of the host such a name is of no column that is looked at.
        if name.hasFewMarks { members.append((key: name, value: value)) }
      } catch {
        throw error.inside(name)
      }
      if take(UInt8(ascii: ",")) { continue }
      guard take(UInt8(ascii: "}")) else { throw Self.malformed }
      return PayloadObject(sorting: members)
    }
  }
}

extension JSONFault {
  /// The same fault of a value that is inside another one. Of text that is no JSON no place is told.
  fileprivate func inside(_ name: String) -> JSONFault {
    guard code != .malformed else { return self }
    return JSONFault(code: code, path: [name] + path)
  }
}

// Texts and numbers.
extension PayloadReader {
  private mutating func text() throws(JSONFault) -> String {
    position += 1
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        defer { position += 1 }
        return try string(bytes[start..<position])
      }
      if byte == UInt8(ascii: "\\") { return try escapedText(from: start) }
      guard byte >= 0x20 else { throw Self.malformed }
      position += 1
    }
    throw Self.malformed
  }

  private func string(_ utf8: some Collection<UInt8>) throws(JSONFault) -> String {
    guard let text = String(validating: utf8, as: UTF8.self) else { throw Self.malformed }
    guard limits.losesDigits || text.hasFewMarks else { throw JSONFault(code: .tooManyMarks) }
    return text
  }

  private mutating func escapedText(from start: Int) throws(JSONFault) -> String {
    var utf8 = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return try string(utf8)
      case UInt8(ascii: "\\"): utf8.append(contentsOf: try escape().utf8)
      case ..<0x20: throw Self.malformed
      default: utf8.append(byte)
      }
    }
    throw Self.malformed
  }

  private mutating func escape() throws(JSONFault) -> Character {
    guard position < bytes.count else { throw Self.malformed }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return Character(try unicodeEscape())
    default: throw Self.malformed
    }
  }

  /// After `\u`; two of them for a character beyond U+FFFF (RFC 8259 §7).
  private mutating func unicodeEscape() throws(JSONFault) -> Unicode.Scalar {
    let first = try codeUnit()
    guard first != 0 || limits.losesDigits else { throw JSONFault(code: .nullCharacter) }
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xD800..<0xDC00).contains(first), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    else { throw Self.malformed }
    position += 2
    let second = try codeUnit()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw Self.malformed }
    return scalar
  }

  private mutating func codeUnit() throws(JSONFault) -> UInt32 {
    guard position + 4 <= bytes.count else { throw Self.malformed }
    var unit: UInt32 = 0
    for byte in bytes[position..<position + 4] {
      guard byte.isASCIILetterOrDigit, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw Self.malformed
      }
      unit = unit << 4 | UInt32(digit)
    }
    position += 4
    return unit
  }

  private mutating func number() throws(JSONFault) -> PayloadValue {
    let start = position
    if peek() == UInt8(ascii: "-") { position += 1 }
    if peek() == UInt8(ascii: "0") { position += 1 } else { try digits() }
    var isWhole = true
    if peek() == UInt8(ascii: ".") {
      isWhole = false
      position += 1
      try digits()
    }
    if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
      isWhole = false
      position += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    guard !isWhole || limits.losesDigits, let number = Double(text), let finite = try? FiniteNumber(number) else {
      throw JSONFault(code: .numberTooLarge)
    }
    return .number(finite)
  }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func digits() throws(JSONFault) {
    let start = position
    while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw Self.malformed }
  }
}

extension String {
  /// Whether at most ``JSONLimits/marksMax`` combining marks follow one another.
  fileprivate var hasFewMarks: Bool {
    if utf8.allSatisfy({ $0 < 0x80 }) { return true }
    var marks = 0
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: marks += 1
      default: marks = 0
      }
      if marks > JSONLimits.marksMax { return false }
    }
    return true
  }
}
