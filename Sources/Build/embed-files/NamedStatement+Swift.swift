extension NamedStatement {
  /// The types that statements declare, and what ``PostgresType`` calls them.
  private static let types = [
    "uuid": ".uuid", "text": ".text", "bigint": ".int8", "integer": ".int4", "boolean": ".bool",
    "tacet.message_id": ".messageID", "tacet.conversation_id": ".conversationID", "tacet.user_id": ".userID",
    "tacet.subject_id": ".subjectID",
  ]

  var swiftName: String { Self.swiftName(name) }

  /// Words in camel case; `us`, the unit, in full: `lease_us` is `leaseMicroseconds`, `user_ids` is `userIDs`.
  static func swiftName(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) {
      switch $1 {
      case "id": $0 + "ID"
      case "ids": $0 + "IDs"
      case "us": $0 + "Microseconds"
      default: $0 + $1.prefix(1).uppercased() + $1.dropFirst()
      }
    }
  }

  /// The statement as a constant.
  func declaration() throws -> String {
    let types = try parameters.map { try Self.swiftType($0.type) }
    let list = types.isEmpty ? "" : ", [\(types.joined(separator: ", "))]"
    return "  static let \(swiftName) = PostgresStatement(\"\(name)\", \(literal(sql))\(list))\n"
  }

  /// A call of it whose labels are the parameters' names.
  var call: String {
    guard !parameters.isEmpty else {
      return "  static var \(swiftName): StatementCall { StatementCall(PushStatements.\(swiftName), []) }\n"
    }
    let names = parameters.map { Self.swiftName($0.name) }
    return """
        static func \(swiftName)(\(names.map { "\($0): any PostgresEncodable" }.joined(separator: ", "))) -> StatementCall {
          StatementCall(PushStatements.\(swiftName), [\(names.joined(separator: ", "))])
        }

      """
  }

  private static func swiftType(_ type: String) throws -> String {
    let element = type.hasSuffix("[]") ? String(type.dropLast(2)) : type
    guard let name = types[element] else { throw Defect("no parameter can be a \(type)") }
    return element == type ? name : ".array(of: \(name))"
  }
}

/// A raw literal of several lines, whose delimiter does not occur in the text.
func literal(_ text: String) -> String {
  var marks = "#"
  while text.contains("\"\"\"" + marks) || text.contains("\\" + marks) { marks += "#" }
  return "\(marks)\"\"\"\n\(text)\n\"\"\"\(marks)"
}
