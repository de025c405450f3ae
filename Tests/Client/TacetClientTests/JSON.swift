import Foundation

/// Any JSON value, compared without regard to the order of members.
enum JSON: Hashable, Sendable, Codable {
  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let list = try? value.decode([JSON].self) {
      self = .array(list)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .boolean(let truth): try value.encode(truth)
    case .number(let number):
      if let whole = Int64(exactly: number) { try value.encode(whole) } else { try value.encode(number) }
    case .string(let text): try value.encode(text)
    case .array(let list): try value.encode(list)
    case .object(let members): try value.encode(members)
    }
  }

  init(_ data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data) }

  subscript(_ name: String) -> JSON? { members?[name] }

  var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
  var list: [JSON]? { if case .array(let list) = self { list } else { nil } }
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int? { if case .number(let number) = self { Int(number) } else { nil } }
  var truth: Bool? { if case .boolean(let truth) = self { truth } else { nil } }

  /// Compact.
  var data: Data {
    get throws { try JSONEncoder().encode(self) }
  }
}
