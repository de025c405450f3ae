internal import Postgres
internal import PushRules

/// The SQL that a mapping means: `db/host/wiring.sql` with the host's tables in it. One transaction, and behind it the indexes. It may
/// run again.
package struct WiringFile {
  /// By which a file is known as one that `tacet init` has written and may write anew.
  package static let mark = "-- Wires Tacet to the tables of this application."

  let mapping: HostMapping
  let types: MappingTypes
  let schema: HostSchema
  let template: String
  package let ids: MappingIDs

  /// - Parameters:
  ///   - types: of all values of the mapping, as the database knows them.
  ///   - template: `db/host/wiring.sql`.
  /// - Throws: ``MappingFault`` for what does not fit together.
  package init(
    _ mapping: HostMapping, _ types: MappingTypes, _ schema: HostSchema, template: String
  ) throws(MappingFault) {
    (self.mapping, self.types, self.schema, self.template) = (mapping, types, schema, template)
    ids = try MappingIDs(types)
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

  /// What no message shows.
  var meanings: [String] {
    var lines: [String] = []
    if mapping[.read].head.value == "none" {
      lines.append(
        "read none: a push comes although the message was read elsewhere, and only a line unread of members makes a badge"
      )
    }
    if mapping[.members].head.value == "everyone", let table = table(mapping[.users]) {
      lines.append("members everyone: \(table.everyone)")
    }
    return lines
  }

  private func table(_ section: HostMapping.Section) -> HostTable? {
    section.isWord ? nil : schema.table(named: section.head.value)
  }

  /// The column that a line names; nil for an expression.
  private func column(_ key: String, _ section: HostMapping.Section) -> HostColumn? {
    table(section)?.column(saying: section.value(key))
  }

  /// Whether rows repeat no values of these lines.
  private func isUnique(_ section: HostMapping.Section, _ keys: String...) -> Bool {
    let columns = keys.compactMap { column($0, section)?.name }
    return columns.count == keys.count && table(section)?.isUnique(Set(columns)) == true
  }

  // MARK: What the template is filled with

  private func filled(_ template: String, _ words: Set<String>) -> String {
    let (values, blocks) = (self.values, mapping.all(.blocks).map(values(of:)))
    let members = mapping[.members].all("user").compactMap { line in
      table(mapping[.members]).map { ["members.user": $0.sql(line.value)] }
    }
    /// The first without a number.
    func numbered(_ values: [[String: String]]) -> [[String: String]] {
      zip(1..., values).map { $1.merging(["number": $0 == 1 ? "" : String($0)]) { $1 } }
    }
    return WiringTemplate(template).filled(
      values,
      [
        "members": ("\nunion all\n", members), "block": ("\nor ", blocks), "policy": ("\n", policies),
        "key": ("\n", keys),
        "member_index": ("\n", numbered(members)), "block_index": ("\n", numbered(blocks)),
      ], words: words.union(self.words))
  }

  private var words: Set<String> {
    let (members, read, devices, users) = (mapping[.members], mapping[.read], mapping[.devices], mapping[.users])
    let (isRead, isEveryone) = (read.head.value != "none", members.head.value == "everyone")
    let isCounter = members.value("unread") != nil
    let isOnce = members.all("user").count == 1 && isUnique(members, "conversation", "user")
    let words: KeyValuePairs = [
      "listed": !members.isWord, "everyone": isEveryone, "pairs": members.head.value == "recipient",
      "once": isOnce || members.value("latest") != nil, "reading": isRead, "first_unread": mapping.isFirstUnread,
      "repeats_marks": !read.isWord && read.value("mark") != nil && !isUnique(read, "conversation", "user"),
      "badge": isCounter || isRead && !isEveryone, "counted": !members.isWord && !isCounter,
      "own_devices": devices.isWord, "is_deleted": ["delete", nil].contains(devices.value("dead")),
      "is_unzoned": types["messages.written"] == "timestamp",
      "is_partitioned": table(mapping[.messages])?.isPartitioned == true,
      "erases_users": column("id", users)?.name == "id" && table(users)?.isTable == true,
    ]
    return Set(words.filter(\.value).map(\.key))
  }

  private var values: [String: String] {
    let (messages, devices) = (mapping[.messages], mapping[.devices])
    var values = [
      "message_type": ids.messages.rawValue, "conversation_type": ids.conversations.rawValue,
      "user_type": ids.users.rawValue, "user_pattern": ids.userPattern,
      "migrate": (["tacet", "migrate"] + ids.migrateOptions).joined(separator: " "),
      "unused_id": ids.messages == .bigint ? "-1 - floor(random() * 2e9)" : "gen_random_uuid()",
      "messages.id::": cast(types["messages.id"]), "devices.user::": "", "trigger_arguments": triggerArguments,
      "beginning": beginning,
    ]
    if let table = table(messages) {
      values["messages_text"] = table.relation.quotedLiteral
      values["messages_alias"] = table.name.quotedIdentifier
    }
    for section in mapping.sections where ![.blocks, .role].contains(section.part) {
      values.merge(self.values(of: section)) { $1 }
    }
    let written = column("written", messages)
    values["written_column"] = written?.type.hasPrefix("timestamp") == true ? written?.sql : nil
    if devices.value("dead") == "clear" {
      values["nothing"] = column("token", devices)?.isNullable == false ? "''" : "null"
    }
    guard let role else { return values }
    let writtenColumn = values["nothing"] == nil ? values["devices.dead"] : values["devices.token"]
    return values.merging([
      "role": role, "role_text": role.quotedLiteral,
      "read_schemas": Set(readTables.map(\.schema.quotedIdentifier)).sorted().joined(separator: ", "),
      "read_tables": readTables.map(\.sql).joined(separator: ", "),
      "write_right": words.contains("is_deleted") ? "delete" : "update (\(writtenColumn ?? ""))",
    ]) { $1 }
  }

  /// A part's table and lines, its conditions together and why a row is left out, and casts.
  private func values(of section: HostMapping.Section) -> [String: String] {
    var values: [String: String] = [:]
    values["\(section.part).table"] = table(section)?.sql
    values["\(section.part).relation"] = table(section)?.relation
    var reasons: [String] = []
    for line in section.lines {
      let name = "\(section.part).\(line.key)"
      let value = table(mapping.home(of: line, in: section))?.sql(line.value) ?? line.value
      if ["only", "wants"].contains(line.key) {
        values[name] = (values[name].map { "\($0) and " } ?? "") + value
        reasons.append("case when \(value) is not true then \("not: \(line.value)".quotedLiteral) end")
      } else if values[name] == nil {
        values[name] = value
        values["\(name)::"] = cast(types[name])
      }
    }
    if !reasons.isEmpty {
      values["\(section.part).reasons"] = "concat_ws('; ', \(reasons.joined(separator: ", ")))"
    }
    return values
  }

  /// Behind an argument, so that an index on the column serves. Only two types do not compare with text by their own indexes.
  private func cast(_ type: String?) -> String {
    type.map { ["bpchar", "citext"].contains($0) ? "::\($0)" : "" } ?? ""
  }

  /// What was before all marks.
  private var beginning: String {
    switch types["read.place"] ?? "" {
    case "timestamptz", "timestamp", "date": "'-infinity'"
    case "uuid": "'00000000-0000-0000-0000-000000000000'"
    case "text", "varchar", "bpchar": "''"
    default: "0"
    }
  }

  /// What the trigger may read besides the id, where the columns have its names.
  private var triggerArguments: String {
    let messages = mapping[.messages]
    guard column("conversation", messages)?.name == "conversation_id" else { return "" }
    let isDated = column("written", messages)?.name == "created_at" && types["messages.written"] == "timestamptz"
    return isDated ? "'conversation_id', 'created_at'" : "'conversation_id'"
  }

  /// The wiring's own tables whose rows go with their user, by a foreign key.
  private var keys: [[String: String]] {
    guard table(mapping[.users])?.isTable == true, isUnique(mapping[.users], "id") else { return [] }
    return (mapping[.devices].isWord ? ["presence", "devices"] : ["presence"]).map { ["own": $0] }
  }

  // MARK: Rights

  var role: String? { mapping.all(.role).first?.head.value }

  /// The tables that the functions read, each once: those of the parts, and those that an expression names.
  private var readTables: [HostTable] {
    let values = mapping.sections.flatMap(\.lines).map(\.value)
    let parts = mapping.sections.filter { $0.part != .role }.compactMap(table)
    return schema.tables.filter { table in
      parts.contains(table) || values.contains { $0.contains(table.sql) || $0.contains(table.fullName) }
    }
  }

  private var policies: [[String: String]] {
    let written = table(mapping[.devices])
    return readTables.filter { $0.hasRowSecurity && role != nil }.map { table in
      table == written ? ["table": table.sql, "is_written": ""] : ["table": table.sql]
    }
  }
}
