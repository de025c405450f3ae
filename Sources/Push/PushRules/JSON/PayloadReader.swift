/// How large and how odd a JSON document may be that another party wrote.
package struct JSONLimits: Sendable {
  /// Arrays and objects inside each other.
  package var depthMax: Int
  /// Values of all kinds, the members of objects included.
  package var elementsMax: Int
  /// Whether an integer that 64 bits do not hold may lose digits, a number that a `Double` does not hold is null, and texts have U+0000
  /// and any number of combining marks; otherwise all four are refused.
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
    guard !isWhole || limits.losesDigits else { throw JSONFault(code: .numberTooLarge) }
    if let number = Double(text), let finite = try? FiniteNumber(number) { return .number(finite) }
    guard limits.losesDigits else { throw JSONFault(code: .numberTooLarge) }
    return .null
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

/// Decodes types from a document that has been read, in the place of Foundation's decoder: for JSON that another party wrote. It looks
/// at a value once, and costs as much as the value is large.
package struct PayloadDecoder: Decoder {
  package let value: PayloadValue
  package let codingPath: [any CodingKey]
  package let userInfo: [CodingUserInfoKey: Any]

  package init(_ value: PayloadValue, userInfo: [CodingUserInfoKey: Any] = [:]) {
    self.init(value, at: [], userInfo)
  }

  fileprivate init(_ value: PayloadValue, at path: [any CodingKey], _ userInfo: [CodingUserInfoKey: Any]) {
    self.value = value
    codingPath = path
    self.userInfo = userInfo
  }

  fileprivate func inside(_ value: PayloadValue, at key: any CodingKey) -> PayloadDecoder {
    PayloadDecoder(value, at: codingPath + [key], userInfo)
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let object) = value else { throw mismatch([String: PayloadValue].self) }
    return KeyedDecodingContainer(PayloadMembers(object, of: self))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let values) = value else { throw mismatch([PayloadValue].self) }
    return PayloadElements(values, of: self)
  }

  package func singleValueContainer() -> any SingleValueDecodingContainer { PayloadSingle(decoder: self) }

  fileprivate func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "has the wrong type")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// Types of one value are decoded here; all others decode themselves.
  fileprivate func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let decoded: Any? =
      switch (type, value) {
      case (is String.Type, .string(let text)): text
      case (is Bool.Type, .boolean(let truth)): truth
      case (is PayloadValue.Type, _): value
      case (is PayloadObject.Type, .object(let object)): object
      case (is Double.Type, .integer(let number)): Double(number)
      case (is Double.Type, .number(let number)): number.value
      default: nil
      }
    if let decoded = decoded as? T { return decoded }
    if type is String.Type || type is Bool.Type || type is Double.Type || type is PayloadObject.Type {
      throw mismatch(type)
    }
    return try T(from: self)
  }

  fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let number: T? =
      switch value {
      case .integer(let number): T(exactly: number)
      case .number(let number): T(exactly: number.value)
      default: throw mismatch(type)
      }
    guard let number else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: codingPath, debugDescription: "must be a whole number that is not as large"))
    }
    return number
  }
}

/// The place of a value in an array.
private struct ElementKey: CodingKey {
  let intValue: Int?
  var stringValue: String { intValue.map { "Index \($0)" } ?? "" }

  init(_ index: Int) { intValue = index }
  init?(intValue: Int) { self.init(intValue) }
  init?(stringValue: String) { nil }
}

private struct PayloadSingle: SingleValueDecodingContainer {
  let decoder: PayloadDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.value == .null }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode(_ type: Float.Type) throws -> Float { Float(try decoder.decode(Double.self)) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }
}

private struct PayloadMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: PayloadDecoder
  private let members: [(key: String, value: PayloadValue)]

  init(_ object: PayloadObject, of decoder: PayloadDecoder) {
    self.decoder = decoder
    members = object.members
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { value(of: key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try inside(key).value == .null }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try inside(key).decode(type) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try inside(key) }

  func superDecoder() throws -> any Decoder {
    guard let key = Key(stringValue: "super") else { return decoder }
    return try inside(key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try inside(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inside(key).unkeyedContainer()
  }

  private func value(of key: Key) -> PayloadValue? {
    let name = key.stringValue
    return members.first { $0.key.hasSameBytes(as: name) }?.value
  }

  private func inside(_ key: Key) throws -> PayloadDecoder {
    guard let value = value(of: key) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "is missing"))
    }
    return decoder.inside(value, at: key)
  }
}

private struct PayloadElements: UnkeyedDecodingContainer {
  private let decoder: PayloadDecoder
  private let values: [PayloadValue]
  private(set) var currentIndex = 0

  init(_ values: [PayloadValue], of decoder: PayloadDecoder) {
    self.decoder = decoder
    self.values = values
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex >= values.count }

  mutating func decodeNil() throws -> Bool {
    guard try current().value == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let decoded = try current().decode(type)
    currentIndex += 1
    return decoded
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try current().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try current().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try current()
    currentIndex += 1
    return decoder
  }

  private func current() throws -> PayloadDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        PayloadValue.self, DecodingError.Context(codingPath: codingPath, debugDescription: "is missing"))
    }
    return decoder.inside(values[currentIndex], at: ElementKey(currentIndex))
  }
}
