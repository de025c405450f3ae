/// A statement of `db/statements`, with named parameters.
///
/// A file holds the statements of a subject. Each begins with its name and its parameters, in the order in which the server numbers
/// them, and a comment that says what it does. Parameters may take several lines, each a comment:
///
///     -- name: kinds_of_user(user_id uuid, kinds text[])
///     -- Returns which of these kinds a user wants.
///
/// Elsewhere `:user_id` is that parameter, as in `psql`. Quoted text, comments, casts (`::text`) and bounds of array
/// slices (`list[2:n]`) are left alone. Lines that hold only a comment, and the final semicolon, are not sent to the server.
///
/// What several statements of a file share stands there once, behind `-- part: NAME`; each has the line `-- include: NAME` in its
/// place. Parts may include parts.
struct NamedStatement: Equatable {
  struct Parameter: Equatable {
    let name: String
    /// As SQL spells it, such as `uuid` or `bigint[]`; or a type of ids, such as `tacet.user_id`.
    let type: String
  }

  /// What keeps a text from being a statement.
  struct Defect: Error, Equatable, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Such as `claim_messages`; also what the server calls the statement.
  let name: String
  let parameters: [Parameter]
  /// The text that the server prepares, with `$1` for the first parameter.
  let sql: String

  /// The statements of a file, in its order. What stands before the first of them is about the file.
  static func statements(in text: String) throws -> [NamedStatement] {
    var sections: [(kind: Substring, name: Substring, lines: [Substring])] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let head = line.wholeMatch(of: /-- (name|part): ([a-z]\w*)(\(.*)?/) {
        sections.append((head.1, head.2, head.3.map { [$0] } ?? []))
      } else if !sections.isEmpty {
        sections[sections.count - 1].lines.append(line)
      }
    }
    let parts = sections.filter { $0.kind == "part" }
    var unused = Set(parts.map(\.name))
    guard unused.count == parts.count else { throw Defect("two parts have one name") }
    func including(_ lines: [Substring], depth: Int = 0) throws -> [Substring] {
      try lines.flatMap { line -> [Substring] in
        guard let name = line.wholeMatch(of: /\s*-- include: (.*)/)?.1 else { return [line] }
        guard let part = parts.first(where: { $0.name == name }) else { throw Defect("there is no part \(name)") }
        guard depth < parts.count else { throw Defect("\(name) includes itself") }
        unused.remove(name)
        let end = part.lines.lastIndex { !$0.isEmpty }.map { $0 + 1 } ?? 0
        return try including(Array(part.lines.prefix(end)), depth: depth + 1)
      }
    }
    let statements = try sections.filter { $0.kind == "name" }.map { section in
      let lines = try including(section.lines)
      do {
        return try NamedStatement(name: String(section.name), text: lines.joined(separator: "\n"))
      } catch let defect as Defect {
        throw Defect("\(section.name): \(defect)")
      }
    }
    guard unused.isEmpty else { throw Defect("nothing includes \(unused.sorted().joined(separator: ", "))") }
    return statements
  }

  /// - Parameter text: what follows the name.
  init(name: String, text: String) throws {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    var parameters: [Parameter] = []
    if text.hasPrefix("(") {
      guard let end = lines.firstIndex(where: { $0.hasSuffix(")") }) else { throw Defect("its parameters have no end") }
      let list = lines[...end].map { $0.trimmingPrefix("--") }.joined().dropFirst().dropLast()
      parameters = try list.split(separator: ",", omittingEmptySubsequences: false).map(Self.parameter)
      lines = lines[(end + 1)...]
    }
    let sent = lines.drop { $0.hasPrefix("--") || $0.isEmpty }.filter { !$0.drop { $0 == " " }.hasPrefix("--") }
    self.name = name
    self.parameters = parameters
    sql = try ParameterNumbering.number(sent.joined(separator: "\n"), names: parameters.map(\.name))
  }

  private static func parameter(_ text: Substring) throws -> Parameter {
    guard let match = text.wholeMatch(of: /\s*([a-z]\w*) ([a-z0-9._]+(?:\[\])?)/) else {
      throw Defect("'\(text)' is no name and type")
    }
    return Parameter(name: String(match.1), type: String(match.2))
  }
}

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
