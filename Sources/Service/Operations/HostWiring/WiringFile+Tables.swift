internal import Postgres
internal import PushRules

// What changes tables of the host: triggers, keys, policies, indexes.
extension WiringFile {
  /// Statements that wait for locks of the host's tables.
  var locking: [String] {
    var statements = policies
    if let users = mapping.section(.users), let table = table(users), table.isTable, let id = column("id", users) {
      if table.isUnique([id.name]) {
        let own = mapping.section(.devices)?.isWord == false ? ["presence"] : ["presence", "devices"]
        statements += own.map { name in
          """
          if not exists (
                  select from pg_constraint k
                  where k.conrelid = 'tacet_host.\(name)'::regclass and k.conname = '\(name)_user_id_fkey')
                then
                  alter table tacet_host.\(name) add constraint \(name)_user_id_fkey
                  foreign key (user_id) references \(table.sql) (\(id.name.quotedIdentifier)) on delete cascade;
                end if;
          """
        }
      }
      if id.name == "id" {
        statements.append(
          """
          create or replace trigger tacet_profile_deleted
                after delete on \(table.sql)
                referencing old table as deleted
                for each statement execute function tacet.forget_deleted_profiles();
          """)
      }
    }
    guard let messages = mapping.section(.messages), let table = table(messages) else { return statements }
    let partitions =
      table.isPartitioned
      ? "-- It does not fire for inserts that name a partition; make it on each partition if you have such.\n      "
      : ""
    statements.append(
      """
      \(partitions)create or replace trigger tacet_message_inserted
            after insert on \(table.sql)
            referencing new table as inserted
            for each statement execute function tacet.enqueue_inserted_messages(\(triggerArguments(messages)));
      """)
    return statements
  }

  /// What the trigger may read besides the id, where the columns have its names.
  private func triggerArguments(_ messages: HostMapping.Section) -> String {
    guard column("conversation", messages)?.name == "conversation_id" else { return "" }
    let written = column("written", messages)
    return written?.name == "created_at" && written?.type == "timestamptz"
      ? "'conversation_id', 'created_at'" : "'conversation_id'"
  }

  private func table(_ section: HostMapping.Section) -> HostTable? {
    section.isWord ? nil : schema.table(named: section.head.value)
  }

  private func column(_ key: String, _ section: HostMapping.Section) -> HostColumn? {
    let value = section.value(key)
    return table(section)?.columns.first { $0.sql == value || $0.name == value }
  }

  // MARK: Indexes

  /// Built without blocking writers, which PostgreSQL cannot do inside a transaction, nor on a partitioned table. A build that was
  /// stopped leaves an invalid index behind, which is built again.
  var indexes: String {
    let wanted = wantedIndexes.filter { $0.expression != nil || !$0.table.hasIndex($0.columns) && $0.table.isTable }
    guard !wanted.isEmpty else { return "" }
    let names = wanted.map { "\($0.table.schema.quotedIdentifier).\($0.name)".quotedLiteral }
    let built = wanted.map { index in
      let columns = index.expression ?? index.columns.map(\.quotedIdentifier).joined(separator: ", ")
      let way = index.table.isPartitioned ? "index" : "index concurrently"
      return "create \(way) if not exists \(index.name) on \(index.table.sql) (\(columns));"
    }
    return """
      -- Indexes, which psql builds one after the other while others write. Those of partitioned tables block writers: build them
      -- beforehand on each partition if these are large.
      select format('drop index concurrently %s', i.indexrelid::regclass)
      from pg_index i
      where not i.indisvalid and i.indexrelid = any (array[\(names.map { "to_regclass(\($0))" }.joined(separator: ", "))])
      \\gexec
      \(built.joined(separator: "\n"))
      """
  }

  private struct Index {
    let name: String
    let table: HostTable
    let columns: [String]
    var expression: String?
  }

  private var wantedIndexes: [Index] {
    var wanted: [Index] = []
    /// One that columns of a table need; none where an expression stands for one.
    func want(_ name: String, _ section: HostMapping.Section?, _ keys: String...) {
      guard let section, let table = table(section) else { return }
      let columns = keys.compactMap { column($0, section)?.name }
      guard columns.count == keys.count else { return }
      wanted.append(Index(name: name, table: table, columns: columns))
    }
    let (messages, members) = (mapping.section(.messages), mapping.section(.members))
    want("tacet_participants_idx", members, "conversation", "user")
    want("tacet_participants_user_idx", members, "user")
    if let members, let table = table(members) {
      for (number, user) in zip(2..., members.all("user").dropFirst()) {
        let named = table.columns.first { $0.sql == user.value }
        if let named {
          wanted.append(Index(name: "tacet_participants_user_idx\(number)", table: table, columns: [named.name]))
        }
      }
    }
    var place = messages?.value("written") ?? "id"
    switch mapping.read {
    case .marker(_, let position, _):
      place = position
      want("tacet_reads_idx", mapping.section(.read), "conversation", "user")
    case .receipts(let section): want("tacet_reads_idx", section, "message", "user")
    default: break
    }
    if mapping.read != .none, let messages, let table = table(messages),
      let conversation = column("conversation", messages),
      let position = table.columns.first(where: { $0.sql == place })
    {
      wanted.append(Index(name: "tacet_messages_idx", table: table, columns: [conversation.name, position.name]))
    }
    if mapping.read != .none { want("tacet_recipients_idx", messages, "recipient") }
    for (number, section) in zip(1..., mapping.all(.blocks)) {
      want("tacet_blocks_idx\(number)", section, "blocker", "blocked")
    }
    if let devices = mapping.section(.devices), let table = table(devices) {
      want("tacet_devices_user_idx", devices, "user")
      let token = "(lower(substring((\(devices.value("token") ?? ""))::text from '[0-9A-Fa-f]{64,}$')))"
      wanted.append(Index(name: "tacet_devices_token_idx", table: table, columns: [], expression: token))
    }
    return wanted
  }

  // MARK: Rights

  /// The tables that the functions read, each once: those of the parts, and those that an expression names.
  private var readTables: [HostTable] {
    let values = mapping.sections.flatMap(\.lines).map(\.value)
    let parts = mapping.sections.compactMap(table)
    let named = schema.tables.filter { table in
      values.contains { $0.contains(table.sql) || $0.contains(table.fullName) }
    }
    return (parts + named).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private var role: String? { mapping.section(.role)?.head.value }

  var rights: String {
    guard let role else {
      return "-- A service with a role of its own needs rights here: a line role of the mapping writes them."
    }
    let schemas = Set(readTables.map(\.schema.quotedIdentifier)).sorted()
    var lines = [
      "-- What the service's role needs.",
      "select tacet.grant_service(\(role.quotedLiteral));",
      "grant usage on schema tacet_host, \(schemas.joined(separator: ", ")) to \(role);",
      "grant select on \(readTables.map(\.sql).joined(separator: ", ")) to \(role);",
      "grant select, insert, update, delete on all tables in schema tacet_host to \(role);",
    ]
    if let devices = mapping.section(.devices), let written = table(devices) {
      let dead = devices.value("dead") ?? "delete"
      let column = dead == "clear" ? devices.value("token") ?? "" : dead
      lines.append("grant \(dead == "delete" ? "delete" : "update (\(column))") on \(written.sql) to \(role);")
    }
    return lines.joined(separator: "\n")
  }

  private var policies: [String] {
    guard let role else { return [] }
    let written = mapping.section(.devices).flatMap(table)
    return readTables.filter(\.hasRowSecurity).map { table in
      let what = table == written ? "to \(role) using (true) with check (true)" : "for select to \(role) using (true)"
      return """
        drop policy if exists tacet_service on \(table.sql);
              create policy tacet_service on \(table.sql) \(what);
        """
    }
  }
}
