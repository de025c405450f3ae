internal import Postgres

/// The SQL file that wires Tacet to a host: one transaction, and behind it the indexes. It may run again.
///
/// Aliases are the same everywhere: `m` a message, `p` a participant, `u` a user, `d` a device, `s` a user's presence.
package struct WiringFile {
  let plan: WiringPlan

  package init(_ plan: WiringPlan) { self.plan = plan }

  package var text: String {
    ([head, check, ownTables] + messageFunctions + participantFunctions + barrierFunctions + deviceFunctions + [
      triggers, rights, "commit;", indexes, tail,
    ])
    .filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  private var head: String {
    """
    -- Wires Tacet to the tables of this application. Written by tacet init; read it before you run it, and change what it got
    -- wrong. It may run again. What the functions return: db/CONTRACT.md.
    --
    \(WiringSummary(plan).lines.map { "--   \($0.onOneLine)" }.joined(separator: "\n"))

    begin;
    set local lock_timeout = '2s';
    set local client_min_messages = warning;
    """
  }

  private var check: String {
    """
    do $$
    begin
      if to_regprocedure('tacet.message_context(\(plan.messageIDs))') is null
        or to_regprocedure('tacet.seen_by(\(plan.conversationIDs))') is null
        or to_regprocedure('tacet.device_tokens(\(plan.userIDs))') is null then
        raise exception 'run first: tacet migrate \(plan.migrateOptions.joined(separator: " "))';
      end if;
    end
    $$;
    """
  }

  private var ownTables: String {
    [
      """
      -- Tables of this wiring. They are beside yours, because yours have no place for what apps report to Tacet, and outside
      -- schema public, because interfaces such as PostgREST show that to every client.
      create schema if not exists tacet_host;
      """, presenceTable, isOwnDevices ? devicesTable : "",
    ].filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private var presenceTable: String {
    """
    -- When each user last looked at a conversation and left it, as the app reports to Tacet.
    create table if not exists tacet_host.presence (
      conversation_id \(plan.conversationIDs) not null,
      user_id \(plan.userIDs) not null\(userKey),
      last_seen timestamptz,
      left_at timestamptz,
      constraint presence_pkey primary key (conversation_id, user_id)
    ) with (fillfactor = 80);
    create index if not exists presence_user_id_idx on tacet_host.presence (user_id);
    """
  }

  private var triggers: String {
    let messages = plan.messages
    let partitions =
      messages.table.isPartitioned
      ? "-- It does not fire for inserts that name a partition; make it on each partition if you have such.\n" : ""
    return """
      -- Each inserted message becomes a push.
      \(partitions)create or replace trigger tacet_message_inserted
      after insert on \(messages.table.sql)
      referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages(\(triggerArguments));
      """ + erasureTrigger
  }

  /// What the trigger may read besides the id, where the columns have its names.
  private var triggerArguments: String {
    guard plan.messages.conversation.name == "conversation_id" else { return "" }
    let created = plan.messages.created
    return created?.name == "created_at" && created?.type == "timestamptz"
      ? "'conversation_id', 'created_at'" : "'conversation_id'"
  }

  private var erasureTrigger: String {
    guard let users = plan.users, users.table.isTable, users.id.name == "id" else { return "" }
    return """


      -- What Tacet knows of a deleted user goes too.
      create or replace trigger tacet_profile_deleted
      after delete on \(users.table.sql)
      referencing old table as deleted
      for each statement execute function tacet.forget_deleted_profiles();
      """
  }

  private var tail: String {
    """
    -- Now run tacet doctor. It plays a message through these functions and undoes it.
    """
  }

  var isOwnDevices: Bool { plan.devices == .own }

  /// Rows of the wiring go with their user, where that is in a table with a key.
  var userKey: String {
    guard let users = plan.users, users.table.isTable, users.table.isUnique([users.id.name]) else { return "" }
    return " references \(users.table.sql) (\(users.id.name.quotedIdentifier)) on delete cascade"
  }

  /// A function of the contract.
  func function(
    _ signature: String, returns result: String, _ language: String = "sql stable", comment: String, _ body: String
  ) -> String {
    """
    \(comment.split(separator: "\n").map { "-- \($0.description.onOneLine)" }.joined(separator: "\n"))
    create or replace function tacet.\(signature)
    returns \(result)
    language \(language)
    as \(body.dollarQuoted);
    """
  }

  /// Conditions on a row, each on a line after `where ...`.
  func and(_ conditions: [String], indent: Int = 2) -> String {
    conditions.map { "\n\(String(repeating: " ", count: indent))and \($0)" }.joined()
  }
}

extension WiringFile {
  var participantFunctions: [String] { [seenBy, takesPart, viewConversations] }

  private var seenBy: String {
    let comment: String
    let body: String
    switch plan.participants {
    case .table(let members):
      comment = "Who takes part in a conversation, and when each last looked at it."
      let looked = members.looked?.moment("p")
      let leftAt = members.leftAt?.moment("p")
      body = """
        select
          \(members.user.id("p")),
          \(looked.map { "greatest(\($0), s.last_seen)" } ?? "s.last_seen"),
          \(leftAt.map { "greatest(\($0), s.left_at)" } ?? "s.left_at")
        from \(members.table.sql) p
        left join tacet_host.presence s
          on s.conversation_id = seen_by.conversation_id and s.user_id = \(members.user.id("p"))
        where \(members.conversation.equals("seen_by.conversation_id", "p"))\(and(conditions(members)))
        """
    case .pair(let pair):
      comment = "Both users of a conversation, and when each last looked at it."
      let users = pair.users.map { "select \($0.id("c"))" }.joined(separator: " union ")
      body = """
        select p.user_id, s.last_seen, s.left_at
        from \(pair.table.sql) c
        cross join lateral (\(users)) as p (user_id)
        left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = p.user_id
        where \(pair.id.equals("seen_by.conversation_id", "c")) and p.user_id is not null
        """
    case .everyone:
      comment = "Every user takes part in every conversation."
      guard let users = plan.users else { preconditionFailure("a plan for everyone has a table of users") }
      body = """
        select \(users.id.id("u")), s.last_seen, s.left_at
        from \(users.table.sql) u
        left join tacet_host.presence s
          on s.conversation_id = seen_by.conversation_id and s.user_id = \(users.id.id("u"))\(whereUsers(users))
        """
    }
    return function(
      "seen_by(conversation_id \(plan.conversationIDs))",
      returns: "table (user_id \(plan.userIDs), last_seen timestamptz, left_at timestamptz)", comment: comment, body)
  }

  private func conditions(_ members: ParticipantsGuess) -> [String] {
    (RowCondition.known(members.user) + members.conditions).map { $0.sql("p") }
  }

  /// Who is muted takes part.
  private func present(_ members: ParticipantsGuess) -> [String] {
    members.conditions.filter { !$0.isWish }.map { $0.sql("p") }
  }

  private func whereUsers(_ users: UsersGuess) -> String {
    users.conditions.isEmpty ? "" : "\nwhere " + users.conditions.map { $0.sql("u") }.joined(separator: " and ")
  }

  private var takesPart: String {
    let body: String
    switch plan.participants {
    case .table(let members):
      let conversation = members.conversation.equals("takes_part.conversation_id", "p")
      body = """
        select coalesce(
          (
            select true
            from \(members.table.sql) p
            where \(conversation)
              and \(members.user.equals("takes_part.user_id", "p"))\(and(present(members), indent: 6))
            limit 1
          ),
          (select false from \(members.table.sql) p where \(conversation) limit 1))
        """
    case .pair(let pair):
      let users = pair.users.map { $0.equals("takes_part.user_id", "c") }.joined(separator: " or ")
      body = """
        select coalesce(\(users), false)
        from \(pair.table.sql) c
        where \(pair.id.equals("takes_part.conversation_id", "c"))
        """
    case .everyone:
      guard let users = plan.users else { preconditionFailure("a plan for everyone has a table of users") }
      let conditions = users.conditions.filter { !$0.isWish }.map { " and \($0.sql("u"))" }.joined()
      body = """
        select exists (
          select from \(users.table.sql) u where \(users.id.equals("takes_part.user_id", "u"))\(conditions))
        """
    }
    return function(
      "takes_part(conversation_id \(plan.conversationIDs), user_id \(plan.userIDs))", returns: "boolean",
      comment: "Whether a user takes part; null where nobody does.", body)
  }

  private var viewConversations: String {
    let (conversation, user) = (plan.conversationIDs.rawValue, plan.userIDs.rawValue)
    return function(
      "view_conversations(\n  conversation_ids \(conversation)[], user_ids \(user)[], have_looked boolean[], have_left boolean[]\n)",
      returns: "table (conversation_id \(conversation), user_id \(user), is_participant boolean, is_skipped boolean)",
      "plpgsql volatile",
      comment: """
        What apps report of presence. A look clears left_at; leaving is dated after the look. Held pushes are looked at again.
        """,
      """
      #variable_conflict use_column
      begin
        return query
          with reported as materialized (
            select r.room, r.person, r.has_looked, r.has_left, tacet.takes_part(r.room, r.person) as is_member
            from unnest(
              view_conversations.conversation_ids, view_conversations.user_ids, view_conversations.have_looked,
              view_conversations.have_left
            ) as r (room, person, has_looked, has_left)
          ), written as (
            insert into tacet_host.presence as s (conversation_id, user_id, last_seen, left_at)
            select
              r.room, r.person, case when r.has_looked then clock_timestamp() end,
              case when r.has_left then clock_timestamp() end
            from reported r
            where r.is_member
            order by r.room, r.person
            on conflict on constraint presence_pkey do update
            set last_seen = coalesce(excluded.last_seen, s.last_seen), left_at = excluded.left_at
          )
          select r.room, r.person, r.is_member, false from reported r;
        perform tacet.release_conversation(r.room, r.person)
        from unnest(view_conversations.conversation_ids, view_conversations.user_ids) as r (room, person);
      end
      """)
  }
}

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
