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

extension String {
  /// Whether both are the same bytes. Texts that are not ASCII are otherwise compared, and hashed, in canonical order, which takes
  /// microseconds a name.
  package func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
