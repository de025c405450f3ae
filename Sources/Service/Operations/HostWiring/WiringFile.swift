internal import Postgres
package import PushRules

/// The SQL that a mapping means: `db/host/wiring.sql` with the host's tables in it. One transaction, and behind it the indexes. It may
/// run again.
package struct WiringFile {
  /// By which a file is known as one that `tacet init` has written and may write anew.
  package static let mark = "-- Wires Tacet to the tables of this application."

  let mapping: HostMapping
  let schema: HostSchema
  let template: String
  package let ids: IDTypes

  /// - Parameters:
  ///   - mapping: with the types of its values.
  ///   - template: `db/host/wiring.sql`.
  /// - Throws: ``MappingFault`` for what nobody has confirmed, or does not fit together.
  init(_ mapping: HostMapping, _ schema: HostSchema, template: String) throws(MappingFault) {
    (self.mapping, self.schema, self.template) = (mapping, schema, template)
    if let line = mapping.unsure.first {
      throw MappingFault(line.number, "\(line.key) is marked ?: write what it is, or delete the mark or the line")
    }
    ids = try IDTypes(mapping)
    let (members, read) = (mapping[.members], mapping[.read])
    if members.head.value == "everyone", mapping[.users].isWord {
      throw MappingFault(members.head.number, "without a table of users not everyone can take part")
    }
    if members.isWord, read.isWord, read.word == "marker" || read.word == "flag" && members.head.value == "everyone" {
      throw MappingFault(read.head.number, "\(read.head.value) needs a table of members")
    }
  }

  package var text: String {
    """
    \(Self.mark) Written by tacet init from this mapping, which is what to change:
    --
    \(mapping.text.split(whereSeparator: \.isNewline).map { "--   \($0)" }.joined(separator: "\n"))

    \(filled(template, ["makes_tables"]))
    """
  }

  /// A script that makes the functions of the wiring and `played` in schema `pg_temp`, for a transaction that is rolled back.
  /// - Parameter isApplied: whether the wiring's own tables are there.
  func checkScript(isApplied: Bool) -> String {
    var text = template.replacing("tacet.", with: "pg_temp.").replacing("tacet_host.as_", with: "pg_temp.as_")
    if !isApplied { text = text.replacing("tacet_host.", with: "pg_temp.") }
    return filled(text, isApplied ? ["check"] : ["check", "makes_tables"])
  }

  private func table(_ section: HostMapping.Section) -> HostTable? {
    section.isWord ? nil : schema.table(named: section.head.value)
  }

  private func table(_ part: HostMapping.Part) -> HostTable? { table(mapping[part]) }

  /// The column that a line names; nil for an expression.
  private func column(_ part: HostMapping.Part, _ key: String) -> HostColumn? {
    table(part)?.column(saying: mapping[part].value(key))
  }

  /// Whether rows repeat no values of these lines.
  private func isUnique(_ part: HostMapping.Part, _ keys: String...) -> Bool {
    let columns = keys.compactMap { column(part, $0)?.name }
    return columns.count == keys.count && table(part)?.isUnique(Set(columns)) == true
  }

  // MARK: What the template is filled with

  private func filled(_ template: String, _ words: Set<String>) -> String {
    let members = mapping[.members].all("user").map { ["members.user": table(.members)?.sql($0.value) ?? $0.value] }
    let blocks = mapping.all(.blocks).map(values(of:))
    let policies = role == nil ? [] : readTables.filter(\.hasRowSecurity).map { ["table": $0.sql] }
    let keyed = (mapping[.devices].isWord ? ["presence", "devices"] : ["presence"]).map { ["own": $0] }
    return WiringTemplate.filled(
      template, values,
      [
        "members": ("\nunion all\n", members), "member_index": ("\n", members), "block": ("\nor ", blocks),
        "block_index": ("\n", blocks), "policy": ("\n", policies), "key": ("\n", keyed),
      ], words: words.union(self.words))
  }

  private var words: Set<String> {
    let (members, read, devices) = (mapping[.members], mapping[.read], mapping[.devices])
    let (isRead, isEveryone) = (read.head.value != "none", members.head.value == "everyone")
    let (isCounter, written) = (members.value("unread") != nil, column(.messages, "written"))
    let isOnce = members.all("user").count == 1 && isUnique(.members, "conversation", "user")
    let words: KeyValuePairs = [
      "everyone": isEveryone, "once": isOnce || members.value("latest") != nil, "reading": isRead,
      "repeats_marks": !read.isWord && read.value("mark") != nil && !isUnique(.read, "conversation", "user"),
      "badge": isCounter || isRead && !isEveryone, "counted": !members.isWord && !isCounter,
      "is_deleted": ["delete", nil].contains(devices.value("dead")), "is_cleared": devices.value("dead") == "clear",
      "is_required": column(.devices, "token")?.isNullable == false,
      "is_unzoned": mapping.type(.messages, "written") == "timestamp",
      "is_dated": written?.type.hasPrefix("timestamp") == true,
      "names_conversation": column(.messages, "conversation")?.name == "conversation_id",
      "names_date": written?.name == "created_at" && written?.type == "timestamptz",
      "is_partitioned": table(.messages)?.isPartitioned == true,
      "keeps_users": table(.users)?.isTable == true && isUnique(.users, "id"),
      "erases_users": table(.users)?.isTable == true && column(.users, "id")?.name == "id",
    ]
    return Set(words.filter(\.value).map(\.key) + ["messages_\(ids.messages)", "users_\(ids.users)"])
  }

  private var values: [String: String] {
    var values = [
      "message_type": ids.messages.rawValue, "conversation_type": ids.conversations.rawValue,
      "user_type": ids.users.rawValue, "devices.user::": "",
      "beginning": mapping.type(.read, "place").flatMap { Self.beginnings[$0] } ?? "0",
    ]
    values["messages_text"] = table(.messages)?.sql.quotedLiteral
    values["messages_alias"] = table(.messages)?.name.quotedIdentifier
    for section in mapping.sections where ![.blocks, .role].contains(section.part) {
      values.merge(self.values(of: section)) { $1 }
    }
    values["role"] = role
    values["read_schemas"] = Set(readTables.map(\.schema.quotedIdentifier)).sorted().joined(separator: ", ")
    values["read_tables"] = readTables.map(\.sql).joined(separator: ", ")
    return values
  }

  /// A part's table and lines, its conditions together and why a row is left out, and casts.
  private func values(of section: HostMapping.Section) -> [String: String] {
    var values: [String: String] = [:]
    values["\(section.part).table"] = table(section)?.sql
    var reasons: [String] = []
    for line in section.lines {
      let name = "\(section.part).\(line.key)"
      let value = table(mapping.home(of: line, in: section))?.sql(line.value) ?? line.value
      if ["only", "wants"].contains(line.key) {
        values[name] = (values[name].map { "\($0) and " } ?? "") + value
        reasons.append("case when \(value) is not true then \("not: \(line.value)".quotedLiteral) end")
      } else if values[name] == nil {
        values[name] = value
        // Behind an argument, so that an index on the column serves. Only two types do not compare with text by their own indexes.
        values["\(name)::"] = line.type.map { ["bpchar", "citext"].contains($0) ? "::\($0)" : "" } ?? ""
      }
    }
    values["\(section.part).reasons"] = reasons.isEmpty ? nil : "concat_ws('; ', \(reasons.joined(separator: ", ")))"
    return values
  }

  /// What was before all marks, by the type of these; of numbers 0.
  private static let beginnings = [
    "timestamptz": "'-infinity'", "timestamp": "'-infinity'", "date": "'-infinity'", "text": "''", "varchar": "''",
    "bpchar": "''", "uuid": "'00000000-0000-0000-0000-000000000000'",
  ]

  // MARK: Rights

  var role: String? { mapping.all(.role).first?.head.value }

  /// The tables that the functions read, each once: those of the parts, and those that an expression names.
  private var readTables: [HostTable] {
    let values = mapping.sections.flatMap(\.lines).map(\.value)
    let parts = mapping.sections.filter { $0.part != .role }.compactMap { table($0) }
    return schema.tables.filter { table in
      parts.contains(table) || values.contains { $0.contains(table.sql) || $0.contains(table.fullName) }
    }
  }
}
