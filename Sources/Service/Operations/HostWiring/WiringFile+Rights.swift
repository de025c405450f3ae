internal import Postgres

// Indexes, and what a service with a separate role may do.
extension WiringFile {
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
    if case .table(let members) = plan.participants {
      let (conversation, user) = (members.conversation.name, members.user.name)
      wanted.append(Index(name: "tacet_participants_idx", table: members.table, columns: [conversation, user]))
      wanted.append(Index(name: "tacet_participants_user_idx", table: members.table, columns: [user]))
      if members.read != nil, let second = members.isReadByID ? plan.messages.id : plan.messages.created {
        wanted.append(
          Index(
            name: "tacet_messages_idx", table: plan.messages.table,
            columns: [plan.messages.conversation.name, second.name]))
      }
    }
    if case .table(let devices) = plan.devices {
      wanted.append(Index(name: "tacet_devices_user_idx", table: devices.table, columns: [devices.user.name]))
      let token = devices.tokenText("d").replacing("d.", with: "", maxReplacements: 1)
      wanted.append(Index(name: "tacet_devices_token_idx", table: devices.table, columns: [], expression: "(\(token))"))
    }
    return wanted
  }

  /// The tables that the functions read, each once.
  private var readTables: [HostTable] {
    var tables = [plan.messages.table]
    if case .table(let members) = plan.participants { tables.append(members.table) }
    if case .pair(let pair) = plan.participants { tables.append(pair.table) }
    tables += ([plan.users].compactMap { $0 } + plan.otherSenders).map(\.table)
    if case .table(let devices) = plan.devices { tables.append(devices.table) }
    tables += plan.blocks.map(\.table)
    return tables.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  var rights: String {
    guard let role = plan.role?.quotedIdentifier else {
      return "-- A service with a role of its own needs rights here: tacet init --role NAME writes them."
    }
    let schemas = Set(readTables.map(\.schema.quotedIdentifier)).sorted()
    var lines = [
      "-- What the service's role needs.",
      "select tacet.grant_service(\(role.quotedLiteral));",
      "grant usage on schema tacet_host, \(schemas.joined(separator: ", ")) to \(role);",
      "grant select on \(readTables.map(\.sql).joined(separator: ", ")) to \(role);",
      "grant select, insert, update, delete on all tables in schema tacet_host to \(role);",
    ]
    var written: HostTable?
    if case .table(let devices) = plan.devices {
      written = devices.table
      let isDeleted = devices.invalidated == nil && !devices.keepsRows
      let column = (devices.invalidated ?? devices.token).name.quotedIdentifier
      lines.append("grant \(isDeleted ? "delete" : "update (\(column))") on \(devices.table.sql) to \(role);")
    }
    for table in readTables where table.hasRowSecurity {
      let what = table == written ? "to \(role) using (true) with check (true)" : "for select to \(role) using (true)"
      lines.append("drop policy if exists tacet_service on \(table.sql);")
      lines.append("create policy tacet_service on \(table.sql) \(what);")
    }
    return lines.joined(separator: "\n")
  }
}
