internal import Postgres
package import PushRules

/// The types of a mapping's values. A database is asked for each, and so finds what is no SQL or names no column.
package struct MappingTypes: Sendable {
  /// What a database is to say of a value.
  package struct Question: Sendable {
    /// The part and the line, as in `messages.sender`.
    let place: String
    package let line: Int
    let isCondition: Bool
    /// Returns the name of one type, that under a domain.
    package let sql: String
  }

  package private(set) var questions: [Question] = []
  private var names: [String: String] = [:]

  /// - Throws: ``MappingFault`` for what is unsure, for a table that is not there, or for one that cannot hold messages.
  package init(_ mapping: HostMapping, _ schema: HostSchema) throws(MappingFault) {
    try mapping.requireSure()
    try schema.check(mapping)
    let messages = mapping[.messages]
    guard let table = schema.table(named: messages.head.value) else { return }
    ask("messages.id", "id", messages.head.number, of: table)
    for section in mapping.sections {
      for line in section.lines where line.key != "dead" || !["delete", "clear"].contains(line.value) {
        let home = mapping.home(of: line, in: section)
        guard let table = schema.table(named: home.head.value) else { continue }
        ask("\(section.part).\(line.key)", line.value, line.number, of: table)
      }
    }
  }

  private mutating func ask(_ place: String, _ value: String, _ line: Int, of table: HostTable) {
    questions.append(
      Question(
        place: place, line: line, isCondition: ["only", "wants", "flag"].contains { place.hasSuffix(".\($0)") },
        sql: """
          select coalesce(b.typname, t.typname)::text
          from (select 1) o
          left join (select \(table.sql(value)) as value from \(table.sql) limit 0) x on true
          join pg_type t on t.oid = pg_typeof(x.value)
          left join pg_type b on b.oid = t.typbasetype
          """))
  }

  /// - Throws: ``MappingFault`` for a condition that is none.
  package mutating func answer(_ question: Question, _ type: String) throws(MappingFault) {
    guard !question.isCondition || type == "bool" else {
      throw MappingFault(question.line, "\(question.place) is to be true or false, and is \(type)")
    }
    names[question.place] = type
  }

  subscript(place: String) -> String? { names[place] }

  /// The type of ids that several values share, in which Tacet stores them.
  /// - Throws: ``MappingFault`` for one that cannot be served, or that differs from another.
  fileprivate func shared(by places: String...) throws(MappingFault) -> IDTypes.IDType {
    var known: (type: IDTypes.IDType, place: String)?
    for question in questions where places.contains(question.place) {
      guard let name = names[question.place] else { continue }
      guard let type = IDTypes.IDType(typeName: name) else {
        throw MappingFault(question.line, "\(question.place) is \(name); ids are uuid, whole numbers or text")
      }
      if let known, known.type != type {
        throw MappingFault(
          question.line, "\(question.place) is \(type.rawValue), and \(known.place) is \(known.type.rawValue)")
      }
      known = known ?? (type, question.place)
    }
    return known?.type ?? .uuid
  }
}

/// The types in which Tacet stores a host's ids.
package struct MappingIDs: Equatable, Sendable {
  package let messages: IDTypes.IDType
  package let conversations: IDTypes.IDType
  package let users: IDTypes.IDType

  init(_ types: MappingTypes) throws(MappingFault) {
    messages = try types.shared(by: "messages.id", "read.message")
    conversations =
      types["messages.recipient"] != nil
      ? .text : try types.shared(by: "messages.conversation", "members.conversation", "read.conversation")
    users = try types.shared(
      by: "users.id", "members.user", "messages.sender", "messages.recipient", "read.user", "blocks.blocker",
      "blocks.blocked", "devices.user")
  }

  /// The options of `tacet migrate` that say them: told all three, it takes no table by its name and other types.
  package var migrateOptions: [String] {
    [
      "--message-ids", messages.rawValue, "--conversation-ids", conversations.rawValue, "--user-ids", users.rawValue,
    ]
  }

  /// What a user's id looks like inside the id of a conversation of two.
  var userPattern: String {
    switch users {
    case .uuid: "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
    case .bigint: "^-?[0-9]{1,18}$"
    case .text: "."
    }
  }
}

extension IDTypes.IDType {
  /// Nil for a type that cannot be served.
  init?(typeName: String) {
    switch typeName {
    case "uuid": self = .uuid
    case "int2", "int4", "int8": self = .bigint
    case "text", "varchar", "bpchar", "citext": self = .text
    default: return nil
    }
  }
}

extension HostColumn {
  /// Nil for a type that no id has.
  var idType: IDTypes.IDType? { IDTypes.IDType(typeName: type) }
}
