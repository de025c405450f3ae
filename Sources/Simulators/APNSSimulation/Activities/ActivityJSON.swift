internal import FoundationEssentials
internal import SimulationControl

/// The state or the attributes of a Live Activity: a JSON value that only the app understands.
///
/// Kept as text, because a parsed one takes ten times the memory.
package struct ActivityJSON: Codable, Equatable, Sendable {
  /// Compact JSON with the members in alphabetical order, so that equal values are equal texts.
  package let text: String

  var isObject: Bool { text.hasPrefix("{") }

  /// Whether it is `null`, which counts as missing.
  var isNull: Bool { text == "null" }

  package init(from decoder: any Decoder) throws {
    text = String(decoding: try sortedJSON(JSONTree(from: decoder)), as: UTF8.self)
  }

  /// Writes the value itself.
  package func encode(to encoder: any Encoder) throws {
    try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)).encode(to: encoder)
  }
}

private enum JSONTree: Codable {
  case null
  case truth(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case list([JSONTree])
  case object([String: JSONTree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let truth = try? container.decode(Bool.self) {
      self = .truth(truth)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([JSONTree].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .truth(let truth): try container.encode(truth)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .object(let object): try container.encode(object)
    }
  }
}
