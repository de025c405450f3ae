extension PayloadObject: Decodable {
  /// Reads any JSON object; its members are put in the order of their keys.
  /// - Throws: `DecodingError` for a number that no `Double` holds.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Name.self)
    for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      self[key.stringValue] = try container.decode(PayloadValue.self, forKey: key)
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// The JSON document: UTF-8, no spaces, members in their order.
  public func encoded() -> [UInt8] {
    var json = JSONBytes(reservingBytes: 256)
    json.append(value: .object(self))
    return json.bytes
  }
}

extension PayloadValue: Decodable {
  /// Reads any JSON value.
  /// - Throws: `DecodingError` for a number that no `Double` holds.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let values = try? value.decode([PayloadValue].self) {
      self = .array(values)
    } else if let object = try? value.decode(PayloadObject.self) {
      self = .object(object)
    } else {
      self = .number(try FiniteNumber(try value.decode(Double.self)))
    }
  }
}
