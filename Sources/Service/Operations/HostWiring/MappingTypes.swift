package import PushRules

// A database says the type of each value, and so finds what is no SQL or names no column.
extension HostMapping {
  /// Returns the name of the type of a line's value, of that under a domain; nil for a line that is no value.
  func question(of line: Line, in section: Section, _ schema: HostSchema) -> String? {
    guard let table = schema.table(named: home(of: line, in: section).head.value),
      line.key != "dead" || !["delete", "clear"].contains(line.value)
    else { return nil }
    let isCondition = ["only", "wants", "flag"].contains(line.key)
    return """
      select coalesce(b.typname, t.typname)::text
      from (select 1) o
      left join (select \(table.sql(line.value))\(isCondition ? " and true" : "") as value from \(table.sql) limit 0) x on true
      join pg_type t on t.oid = pg_typeof(x.value)
      left join pg_type b on b.oid = t.typbasetype
      """
  }

  func type(_ part: Part, _ key: String) -> String? { self[part].lines.first { $0.key == key }?.type }

  /// The type of ids that several values share, in which Tacet stores them.
  /// - Throws: ``MappingFault`` for one that cannot be served, or that differs from another.
  fileprivate func sharedType(_ places: String...) throws(MappingFault) -> IDTypes.IDType {
    var known: (type: IDTypes.IDType, place: String)?
    for (place, line) in sections.flatMap({ section in section.lines.map { ("\(section.part).\($0.key)", $0) } }) {
      guard places.contains(place), let name = line.type else { continue }
      guard let type = IDTypes.IDType.byTypeName[name] else {
        throw MappingFault(line.number, "\(place) is \(name); ids are uuid, whole numbers or text")
      }
      if let known, known.type != type {
        throw MappingFault(line.number, "\(place) is \(type.rawValue), and \(known.place) is \(known.type.rawValue)")
      }
      known = known ?? (type, place)
    }
    return known?.type ?? .uuid
  }
}

extension IDTypes {
  /// The types in which Tacet stores a host's ids.
  init(_ mapping: HostMapping) throws(MappingFault) {
    let conversations = try mapping.sharedType("messages.conversation", "members.conversation", "read.conversation")
    let users = try mapping.sharedType(
      "users.id", "members.user", "messages.sender", "messages.recipient", "read.user", "blocks.blocker",
      "blocks.blocked", "devices.user")
    self.init(
      messages: try mapping.sharedType("messages.id", "read.message"),
      conversations: mapping[.messages].value("recipient") == nil ? conversations : .text, users: users)
  }

  /// The options of `tacet migrate` that say them: told all three, it takes no table by its name and other types.
  package var migrateOptions: [String] {
    ["--message-ids", messages.rawValue, "--conversation-ids", conversations.rawValue, "--user-ids", users.rawValue]
  }
}

extension IDTypes.IDType {
  /// By the names of types that can be served.
  static let byTypeName: [String: Self] = [
    "uuid": .uuid, "int2": .bigint, "int4": .bigint, "int8": .bigint, "text": .text, "varchar": .text, "bpchar": .text,
    "citext": .text,
  ]
}
