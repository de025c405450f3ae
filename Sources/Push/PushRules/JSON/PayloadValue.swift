/// A JSON value of the app's own data.
package enum PayloadValue: Equatable, Sendable {
  case string(String)
  case integer(Int64)
  /// A number, written in the shortest form that reads back the same.
  case number(FiniteNumber)
  case boolean(Bool)
  case null
  case array([PayloadValue])
  case object(PayloadObject)
}

extension PayloadValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
  package init(stringLiteral value: String) { self = .string(value) }

  package init(integerLiteral value: Int64) { self = .integer(value) }

  package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// Members of a JSON object in a fixed order, so that equal data always gives equal bytes.
///
/// Keys are unique: setting one again replaces its value in place. A look-up walks the list, which is fastest for the few
/// members that fit into 4 KB.
package struct PayloadObject: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  /// Keys and values in the order in which the keys were first set.
  package private(set) var members: [(key: String, value: PayloadValue)] = []

  package init() {}

  /// Members in the order written, without those whose value is nil; of equal keys the last value stays.
  package init(dictionaryLiteral elements: (String, PayloadValue?)...) {
    for (key, value) in elements { self[key] = value }
  }

  /// Members in the order of their keys' bytes, which costs less than that of texts; of equal keys the first stays.
  package init(sorting values: [(key: String, value: PayloadValue)]) {
    // The order of equal elements stays.
    for member in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    where members.last.map({ $0.key.hasSameBytes(as: member.key) }) != true {
      members.append(member)
    }
  }

  /// The value of a key; setting nil removes the member.
  package subscript(key: String) -> PayloadValue? {
    get { members.first { $0.key == key }?.value }
    set {
      switch (members.firstIndex { $0.key == key }, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Whether both hold equal members in the same order, which is when their bytes are equal.
  package static func == (one: PayloadObject, other: PayloadObject) -> Bool {
    one.members.count == other.members.count && zip(one.members, other.members).allSatisfy { $0 == $1 }
  }
}

extension PayloadObject: Decodable {
  /// Reads any JSON object; its members are put in the order of their keys.
  /// - Throws: `DecodingError` for a number that no `Double` holds.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    var values: [String: PayloadValue] = [:]
    for key in container.allKeys { values[key.stringValue] = try container.decode(PayloadValue.self, forKey: key) }
    self.init(sorting: values.map { (key: $0.key, value: $0.value) })
  }

  fileprivate struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// The JSON document: UTF-8, no spaces, members in their order.
  package func encoded() -> [UInt8] {
    var json = JSONBytes(reservingBytes: 256)
    json.append(value: .object(self))
    return json.bytes
  }
}

extension PayloadValue: Decodable {
  /// Reads any JSON value, for documents of our own: Foundation's decoder tells kinds apart only by failing. Containers are asked for
  /// before they are read, so that nothing inside is tried twice. What others write, ``init(json:limits:)`` reads.
  /// - Throws: `DecodingError` for a number that no `Double` holds.
  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .array(try value.decode([PayloadValue].self))
    } else if (try? decoder.container(keyedBy: PayloadObject.Name.self)) != nil {
      self = .object(try value.decode(PayloadObject.self))
    } else {
      self = .number(try FiniteNumber(try value.decode(Double.self)))
    }
  }
}

/// A number that JSON can write: neither infinite nor NaN.
package struct FiniteNumber: Equatable, Sendable {
  package let value: Double

  /// Takes any finite number.
  /// - Throws: `numberNotFinite`.
  package init(_ value: Double) throws(PushRequestError) {
    guard value.isFinite else { throw PushRequestError(.numberNotFinite, "JSON has no infinities and no NaN") }
    self.value = value
  }
}

extension FiniteNumber: ExpressibleByFloatLiteral {
  /// A number written in the source; traps on one too large for a `Double`, of which the compiler only warns.
  package init(floatLiteral value: Double) {
    precondition(value.isFinite, "a number in the source is too large for a Double")
    self.value = value
  }
}

/// Writes a JSON document, front to back, straight into UTF-8 bytes.
///
/// Not a coder, because every push goes through here: one pass, no intermediate tree, and text is copied in runs between the
/// few characters that need an escape.
package struct JSONBytes {
  package private(set) var bytes: [UInt8] = []

  package init(reservingBytes capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// Text that is already JSON: punctuation and constant keys.
  package mutating func append(literal: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  package mutating func append(byte: UInt8) {
    bytes.append(byte)
  }

  mutating func append(rawBytes: ArraySlice<UInt8>) {
    bytes.append(contentsOf: rawBytes)
  }

  /// Text without anything to escape.
  mutating func append(plain text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  package mutating func append(integer: Int64) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.integerBytesMax) { digits in
      var (rest, start) = (integer.magnitude, digits.count)
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if integer < 0 {
        start -= 1
        digits[start] = UInt8(ascii: "-")
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }

  /// Nineteen digits and a sign.
  private static let integerBytesMax = 20

  /// A quoted string, escaped by RFC 8259 §7.
  ///
  /// Escapes only what the RFC demands: quote, backslash and the controls below U+0020. The rest stays UTF-8, because each
  /// `\u` escape takes six of about four thousand bytes.
  package mutating func append(string: String) {
    bytes.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { appendEscaped($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
    var runStart = 0
    for index in text.indices where JSONEscape.isNeeded(for: text[index]) {
      bytes.append(contentsOf: text[runStart..<index])
      JSONEscape.append(text[index], to: &bytes)
      runStart = index + 1
    }
    bytes.append(contentsOf: text[runStart...])
  }
}

extension JSONBytes {
  package mutating func append(value: PayloadValue) {
    switch value {
    case .string(let text): append(string: text)
    case .integer(let number): append(integer: number)
    case .number(let number): append(number: number.value)
    case .boolean(let truth): append(literal: truth ? "true" : "false")
    case .null: append(literal: "null")
    case .array(let values): append(array: values)
    case .object(let object): append(object: object)
    }
  }

  /// A finite number, in the shortest form that reads back the same.
  mutating func append(number: Double) {
    bytes.append(contentsOf: "\(number)".utf8)
  }

  package mutating func append(object: PayloadObject) {
    append(literal: "{")
    append(membersOf: object)
    append(literal: "}")
  }

  private mutating func append(array: [PayloadValue]) {
    append(literal: "[")
    for value in array {
      appendComma()
      append(value: value)
    }
    append(literal: "]")
  }
}

/// How single bytes of text are written inside a JSON string (RFC 8259 §7).
package enum JSONEscape {
  static func isNeeded(for byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Bytes that one byte of text takes in the document.
  package static func width(of byte: UInt8) -> Int {
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

extension JSONBytes {
  /// A comma, unless what is written next is the first in its object, its array or the document.
  ///
  /// The byte before tells: no complete value ends in an opening bracket.
  package mutating func appendComma() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["): break
    default: append(byte: UInt8(ascii: ","))
    }
  }

  /// The name of a member and its colon; the value follows. Names in the source need no escapes.
  package mutating func append(name: StaticString) {
    appendComma()
    append(byte: UInt8(ascii: "\""))
    append(literal: name)
    append(byte: UInt8(ascii: "\""))
    append(byte: UInt8(ascii: ":"))
  }

  /// A text; nil and an empty one are left out.
  package mutating func append(member name: StaticString, text: String?) {
    guard let text, !text.isEmpty else { return }
    append(name: name)
    append(string: text)
  }

  /// Texts in their order; an empty array is left out.
  package mutating func append(member name: StaticString, texts: [String]) {
    guard !texts.isEmpty else { return }
    append(name: name)
    append(literal: "[")
    for text in texts {
      appendComma()
      append(string: text)
    }
    append(literal: "]")
  }

  /// A whole number; nil is left out.
  package mutating func append(member name: StaticString, integer: Int64?) {
    guard let integer else { return }
    append(name: name)
    append(integer: integer)
  }

  /// A finite number; nil is left out.
  mutating func append(member name: StaticString, number: Double?) {
    guard let number else { return }
    append(name: name)
    append(number: number)
  }

  /// `1`, which is how `aps` writes true; false is left out.
  mutating func append(member name: StaticString, flag: Bool) {
    guard flag else { return }
    append(name: name)
    append(literal: "1")
  }

  package mutating func append(member name: StaticString, members: (inout JSONBytes) -> Void) {
    append(name: name)
    append(literal: "{")
    members(&self)
    append(literal: "}")
  }

  /// The members of an object, without the braces around them.
  mutating func append(membersOf object: PayloadObject) {
    for member in object.members {
      appendComma()
      append(string: member.key)
      append(byte: UInt8(ascii: ":"))
      append(value: member.value)
    }
  }

  package static func document(reservingBytes capacity: Int, members: (inout JSONBytes) -> Void) -> [UInt8] {
    var json = JSONBytes(reservingBytes: capacity)
    json.append(literal: "{")
    members(&json)
    json.append(literal: "}")
    return json.bytes
  }
}

extension String {
  /// Whether both are the same bytes. Swift compares texts beyond ASCII in canonical order, which takes microseconds a name.
  package func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
