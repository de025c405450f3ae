/// Checks a request against ``MessageSchema``, as Google's protocol buffers do.
enum SchemaJudge {
  /// The targets of a message, of which a request has exactly one.
  private static let targets = ["fid", "token", "topic", "condition"]

  /// The request with the names of the protocol buffer and enumerations in upper case, without nulls.
  /// - Throws: 400 for a content that is not a JSON object, an unknown member, a wrong type, or two targets.
  static func check(_ body: [UInt8]) throws(GoogleError) -> JSONValue {
    guard let document = JSONValue(body), case .object = document else {
      throw .malformed("", "Invalid JSON payload received. Expected an object.")
    }
    let request = try check(document, as: .message(MessageSchema.request), at: "")
    let given = targets.filter { request["message"]?[$0] != nil }
    if given.count > 1 {
      throw .malformed(
        "message",
        "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(given[1])'")
    }
    return request
  }

  private static func check(
    _ value: JSONValue, as type: SchemaType, at path: String
  ) throws(GoogleError) -> JSONValue {
    switch (type, value) {
    case (.string, .string), (.boolean, .boolean), (.float, .number), (.float, .integer), (.object, .object):
      return value
    case (.int32, _) where value.wholeNumber.map { Int32(exactly: $0) != nil } ?? false: return value
    case (.duration, .string(let text)) where ProtobufDuration(text) != nil: return value
    case (.timestamp, .string(let text))
    where text.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/):
      return value
    case (.choice(_, let words), .string(let text)) where words.contains(text.uppercased()):
      return .string(text.uppercased())
    case (.texts, .object(let members)): return try checkTexts(members, at: path)
    case (.list(let type), .array(let values)): return try checkList(values, of: type, at: path)
    case (.message(let name), .object(let members)): return try checkMembers(members, of: name, at: path)
    default: throw .malformed(path, "Invalid value at '\(path)' (\(type.name)), \(value.shown)")
    }
  }

  private static func checkMembers(
    _ members: [String: JSONValue], of message: String, at path: String
  ) throws(GoogleError) -> JSONValue {
    var checked: [String: JSONValue] = [:]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      guard let member = MessageSchema.member(name, of: message) else {
        let place = path.isEmpty ? "" : " at '\(path)'"
        throw .malformed(
          path, "Invalid JSON payload received. Unknown name \(name.debugDescription)\(place): Cannot find field.")
      }
      guard value != .null else { continue }
      checked[member.name] = try check(
        value, as: member.type, at: path.isEmpty ? member.name : "\(path).\(member.name)")
    }
    return .object(checked)
  }

  private static func checkTexts(
    _ members: [String: JSONValue], at path: String
  ) throws(GoogleError) -> JSONValue {
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      _ = try check(member.value, as: .string, at: "\(path)[\(index)].value")
    }
    return .object(members)
  }

  private static func checkList(
    _ values: [JSONValue], of type: SchemaType, at path: String
  ) throws(GoogleError) -> JSONValue {
    var checked: [JSONValue] = []
    for (index, value) in values.enumerated() { checked.append(try check(value, as: type, at: "\(path)[\(index)]")) }
    return .array(checked)
  }
}

extension SchemaType {
  /// As an error of Google names it.
  fileprivate var name: String {
    switch self {
    case .string: "TYPE_STRING"
    case .boolean: "TYPE_BOOL"
    case .int32: "TYPE_INT32"
    case .float: "TYPE_FLOAT"
    case .duration: "type.googleapis.com/google.protobuf.Duration"
    case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
    case .choice(let name, _), .message(let name): "type.googleapis.com/google.firebase.fcm.v1.\(name)"
    case .texts: "Map"
    case .object: "type.googleapis.com/google.protobuf.Struct"
    case .list: "list"
    }
  }
}

/// A duration as protocol buffers write it in JSON: seconds with at most nine digits behind the point, and `s`.
struct ProtobufDuration: Equatable {
  /// The range of `google.protobuf.Duration`, about 10 000 years.
  private static let secondsMax: Int64 = 315_576_000_000

  /// Whole seconds, rounded towards zero.
  let seconds: Int64

  let isNegative: Bool

  init?(_ text: String) {
    guard let match = text.wholeMatch(of: /(-?)([0-9]{1,12})(\.[0-9]{1,9})?s/), let seconds = Int64(match.2),
      seconds <= Self.secondsMax
    else { return nil }
    self.seconds = seconds
    let isZero = seconds == 0 && !(match.3 ?? "").contains { "1"..."9" ~= $0 }
    isNegative = !match.1.isEmpty && !isZero
  }
}
