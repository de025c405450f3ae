internal import FoundationEssentials

enum JSONValue: Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Reads a document. Of members with one name, one remains.
  /// - Returns: nil for anything but JSON, and for JSON nested deeper than 512.
  init?(_ bytes: [UInt8]) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return nil }
    self = value
  }

  /// The member of an object; nil for none and for other values.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The whole number, of a number or of a string of digits, as protocol buffers read both.
  var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// The texts of an object whose members are all texts; empty for other values.
  var texts: [String: String] {
    guard case .object(let members) = self else { return [:] }
    return members.compactMapValues(\.text)
  }

  /// As an error of Google shows it.
  var shown: String {
    switch self {
    case .null: "null"
    case .boolean(let truth): "\(truth)"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string(let text): text.debugDescription
    case .array: "a list"
    case .object: "an object"
    }
  }
}

extension JSONValue: Decodable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let values = try? value.decode([JSONValue].self) {
      self = .array(values)
    } else if let members = try? value.decode([String: JSONValue].self) {
      self = .object(members)
    } else {
      self = .number(try value.decode(Double.self))
    }
  }
}
