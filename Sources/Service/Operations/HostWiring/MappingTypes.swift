internal import Postgres
package import PushRules

/// The types of a mapping's values. Those of columns are in the catalog; a database is asked for those of expressions, and so finds
/// what is no SQL or names no column.
package struct MappingTypes: Equatable, Sendable {
  /// What a database is to say of a value.
  package struct Question: Equatable, Sendable {
    let part: HostMapping.Part
    let key: String
    package let line: Int
    let isCondition: Bool
    /// Returns the name of one type, that under a domain.
    package let sql: String
  }

  private var names: [String: String] = [:]
  package private(set) var questions: [Question] = []

  /// - Throws: ``MappingFault`` for a table that is not there, or for one that cannot hold messages.
  package init(_ mapping: HostMapping, _ schema: HostSchema) throws(MappingFault) {
    for section in mapping.sections where section.part != .role && !section.head.isUnsure && !section.isWord {
      guard let table = schema.table(named: section.head.value) else {
        throw MappingFault(section.head.number, "there is no table \(section.head.value)")
      }
      for line in section.lines where !["", "marker"].contains(line.key) && !line.isUnsure {
        if line.key == "dead", ["delete", "clear"].contains(line.value) { continue }
        ask(section.part, line.key, line.value, line.number, of: table)
      }
    }
    let (messages, read) = (mapping[.messages], mapping[.read])
    guard let table = schema.table(named: messages.head.value) else { return }
    if let fault = schema.messagesFault(table) { throw MappingFault(messages.head.number, fault) }
    names["messages.id"] = table.column("id")?.type
    switch mapping.read {
    case .flag(let value): ask(.read, "flag", value, read.head.number, of: table)
    case .array(let value): ask(.read, "value", value, read.head.number, of: table)
    case .marker(let mark, let place, _):
      ask(.read, "place", place, read.head.number, of: table)
      let marked = read.isWord ? mapping[.members] : read
      guard let table = schema.table(named: marked.head.value) else { return }
      ask(.read, "mark", mark, read.all("marker").first?.number ?? read.head.number, of: table)
    case .none, .receipts: break
    }
  }

  private mutating func ask(
    _ part: HostMapping.Part, _ key: String, _ value: String, _ line: Int, of table: HostTable
  ) {
    if let column = table.columns.first(where: { $0.sql == value || $0.name == value }),
      !["only", "wants", "flag"].contains(key)
    {
      names["\(part).\(key)"] = column.type
      return
    }
    questions.append(
      Question(
        part: part, key: key, line: line, isCondition: ["only", "wants", "flag"].contains(key),
        sql: """
          select coalesce(b.typname, t.typname)::text
          from (select 1) o
          left join (select (\(value)) as value from \(table.sql) limit 0) x on true
          join pg_type t on t.oid = pg_typeof(x.value)
          left join pg_type b on b.oid = t.typbasetype
          """))
  }

  /// - Throws: ``MappingFault`` for a condition that is none.
  package mutating func answer(_ question: Question, _ type: String) throws(MappingFault) {
    guard !question.isCondition || type == "bool" else {
      throw MappingFault(question.line, "\(question.key) is to be true or false, and is \(type)")
    }
    names["\(question.part).\(question.key)"] = type
  }

  subscript(part: HostMapping.Part, key: String) -> String? { names["\(part).\(key)"] }
}

extension HostMapping {
  /// How it is known what was read.
  enum Read: Equatable {
    case none
    /// A condition on messages: somebody else than the sender has read it.
    case flag(String)
    /// Who has read a message, in its row.
    case array(String)
    /// How far a member has read, or what is the first that is unread; beside a place of the message.
    case marker(mark: String, place: String, isFirstUnread: Bool)
    /// A row for each message and reader.
    case receipts
  }

  var read: Read {
    let section = self[.read]
    guard section.isWord else { return section.value("marker").map(Self.marker) ?? .receipts }
    let value = String(section.head.value.dropFirst(section.word.count).trimmed)
    return switch section.word {
    case "flag": .flag(value)
    case "array": .array(value)
    case "marker": Self.marker(value)
    default: .none
    }
  }

  /// Both sides of `last_read_at >= created_at`, or of `first_unread > id`.
  private static func marker(_ text: String) -> Read {
    guard let sign = text.firstRange(of: " >= ") ?? text.firstRange(of: " > ") else {
      return .marker(mark: text, place: "", isFirstUnread: false)
    }
    return .marker(
      mark: String(text[..<sign.lowerBound].trimmed), place: String(text[sign.upperBound...].trimmed),
      isFirstUnread: !text[sign].contains("="))
  }
}

/// The types in which Tacet stores a host's ids.
package struct MappingIDs: Equatable, Sendable {
  package let messages: IDTypes.IDType
  package let conversations: IDTypes.IDType
  package let users: IDTypes.IDType

  /// - Throws: ``MappingFault`` for ids of a type that cannot be served, or that differ where they are to be equal.
  init(_ mapping: HostMapping, _ types: MappingTypes) throws(MappingFault) {
    func same(_ places: [(HostMapping.Part, String)]) throws(MappingFault) -> IDTypes.IDType {
      var known: (type: IDTypes.IDType, part: HostMapping.Part, key: String)?
      for (part, key) in places {
        guard let name = types[part, key] else { continue }
        let line = mapping[part].all(key).first?.number ?? 0
        guard let type = IDTypes.IDType(typeName: name) else {
          throw MappingFault(line, "\(key) of \(part) is \(name); ids are uuid, whole numbers or text")
        }
        if let known, known.type != type {
          throw MappingFault(
            line, "\(key) of \(part) is \(type.rawValue), and \(known.key) of \(known.part) is \(known.type.rawValue)")
        }
        known = known ?? (type, part, key)
      }
      return known?.type ?? .uuid
    }
    messages = try same([(.messages, "id"), (.read, "message")])
    conversations =
      mapping[.messages].value("recipient") != nil
      ? .text : try same([(.messages, "conversation"), (.members, "conversation"), (.read, "conversation")])
    users = try same(
      [
        (.users, "id"), (.members, "user"), (.messages, "sender"), (.messages, "recipient"), (.read, "user"),
        (.blocks, "blocker"), (.blocks, "blocked"), (.devices, "user"),
      ])
  }

  /// The options of `tacet migrate` that say them: told all three, it takes no table by its name and other types.
  package var migrateOptions: [String] {
    [
      "--message-ids", messages.rawValue, "--conversation-ids", conversations.rawValue, "--user-ids", users.rawValue,
    ]
  }

  var migrateCommand: String { (["tacet", "migrate"] + migrateOptions).joined(separator: " ") }

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
