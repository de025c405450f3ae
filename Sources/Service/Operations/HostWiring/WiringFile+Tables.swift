internal import Postgres
internal import PushRules

// What changes tables of the host: triggers, keys, policies, rights, indexes.
extension WiringFile {
  /// What the trigger may read besides the id, where the columns have its names.
  var triggerArguments: String {
    let messages = mapping[.messages]
    guard column("conversation", messages)?.name == "conversation_id" else { return "" }
    let written = column("written", messages)
    return written?.name == "created_at" && written?.type == "timestamptz"
      ? "'conversation_id', 'created_at'" : "'conversation_id'"
  }

  /// The wiring's own tables whose rows go with their user, by a foreign key.
  var keys: [[String: String]] {
    let users = mapping[.users]
    guard let table = table(users), table.isTable, let id = column("id", users), table.isUnique([id.name]) else {
      return []
    }
    return (mapping[.devices].isWord ? ["presence", "devices"] : ["presence"]).map { ["own": $0] }
  }

  // MARK: Rights

  private var role: String? { mapping.section(.role)?.head.value }

  /// The tables that the functions read, each once: those of the parts, and those that an expression names.
  private var readTables: [HostTable] {
    let values = mapping.sections.flatMap(\.lines).map(\.value)
    let parts = mapping.sections.filter { $0.part != .role }.compactMap(table)
    let named = schema.tables.filter { table in
      values.contains { $0.contains(table.sql) || $0.contains(table.fullName) }
    }
    return (parts + named).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  var rights: [String: String] {
    guard let role else { return [:] }
    let token = mapping[.devices].value("token") ?? ""
    let dead = mapping[.devices].value("dead") ?? "delete"
    return [
      "role": role, "role_text": role.quotedLiteral,
      "read_schemas": Set(readTables.map(\.schema.quotedIdentifier)).sorted().joined(separator: ", "),
      "read_tables": readTables.map(\.sql).joined(separator: ", "),
      "write_right": dead == "delete" ? dead : "update (\(dead == "clear" ? token : dead))",
    ]
  }

  var policies: [[String: String]] {
    guard role != nil else { return [] }
    let written = table(mapping[.devices])
    return readTables.filter(\.hasRowSecurity).map { table in
      table == written ? ["table": table.sql, "is_written": ""] : ["table": table.sql]
    }
  }

  // MARK: Indexes

  struct Index {
    let name: String
    let table: HostTable
    /// Columns, or an expression.
    let columns: String

    var fullName: String { "\(table.schema.quotedIdentifier).\(name)" }

    /// One of a partitioned table cannot be built beside writers.
    var values: [String: String] {
      ["index": name, "table": table.sql, "columns": columns].merging(
        table.isPartitioned ? ["blocks_writers": ""] : [:]
      ) { $1 }
    }
  }

  /// Those that columns of tables need and lack; none where an expression stands for a column.
  var missingIndexes: [Index] {
    let (messages, members, read, devices) = (mapping[.messages], mapping[.members], mapping[.read], mapping[.devices])
    func index(_ name: String, _ section: HostMapping.Section, _ columns: [HostColumn?]) -> Index? {
      let names = columns.compactMap { $0?.name }
      guard let table = table(section), table.isTable, names.count == columns.count, !table.hasIndex(names) else {
        return nil
      }
      return Index(name: name, table: table, columns: names.map(\.quotedIdentifier).joined(separator: ", "))
    }
    func index(_ name: String, _ section: HostMapping.Section, _ keys: String...) -> Index? {
      index(name, section, keys.map { column($0, section) })
    }
    var indexes = [
      index("tacet_participants_idx", members, "conversation", "user"),
      index("tacet_participants_user_idx", members, "user"),
      index("tacet_reads_idx", read, read.value("message") == nil ? "conversation" : "message", "user"),
      index("tacet_devices_user_idx", devices, "user"),
    ]
    indexes += zip(2..., members.all("user").dropFirst()).map { number, user in
      let named = table(members)?.columns.first { $0.sql == user.value }
      return index("tacet_participants_user_idx\(number)", members, [named])
    }
    if mapping.read != .none {
      var place = messages.value("written") ?? "id"
      if case .marker(_, let position, _) = mapping.read { place = position }
      let position = table(messages)?.columns.first { $0.sql == place }
      indexes.append(index("tacet_messages_idx", messages, [column("conversation", messages), position]))
      indexes.append(index("tacet_recipients_idx", messages, "recipient"))
    }
    indexes += zip(1..., mapping.all(.blocks)).map { index("tacet_blocks_idx\($0)", $1, "blocker", "blocked") }
    if let table = table(devices) {
      let token = "(lower(substring((\(devices.value("token") ?? ""))::text from '[0-9A-Fa-f]{64,}$')))"
      indexes.append(Index(name: "tacet_devices_token_idx", table: table, columns: token))
    }
    return indexes.compactMap { $0 }
  }
}
