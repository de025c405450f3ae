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

  /// Members in the order written; of equal keys the last value stays.
  package init(dictionaryLiteral elements: (String, PayloadValue)...) {
    for (key, value) in elements { self[key] = value }
  }

  /// Members in the order of their keys' bytes, which costs less than that of texts; of equal keys the first stays.
  init(sorting values: [(key: String, value: PayloadValue)]) {
    // The order of equal elements stays.
    for member in values.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    where members.last.map({ $0.key.utf8.elementsEqual(member.key.utf8) }) != true {
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
