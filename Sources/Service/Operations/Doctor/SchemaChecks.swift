internal import Postgres
internal import PushStore

/// Whether the schema is that of this program.
enum MigrationCheck {
  static let name = "migrations"

  /// - Parameters:
  ///   - changed: migrations that were applied with another text than this program's.
  ///   - outdatedFunctions: files of `db/functions` that are not those of this program.
  static func judge(
    _ applied: [AppliedMigration], known: [Migration] = Migration.all, changed: [String] = [],
    outdatedFunctions: [String] = []
  ) -> CheckFinding {
    guard !applied.isEmpty else { return CheckFinding(name, .failure, "none was applied", remedy: "run tacet migrate") }
    switch SchemaSupport(applied: applied, known: known) {
    case .unreleased:
      return CheckFinding(
        name, .failure, "the schema is from before the first release, and cannot be upgraded",
        remedy: "reinstall: run psql -X -f db/uninstall.sql, then tacet migrate")
    case .tooOld(let missing):
      return CheckFinding(
        name, .failure, "missing: \(missing.joined(separator: ", "))", remedy: "run tacet migrate")
    case .tooNew(let version, let oldest):
      return CheckFinding(
        name, .failure, "migration \(version) needs a program that knows migration \(oldest)",
        remedy: "run the program that they came with")
    case .supported: break
    }
    let newer = applied.map(\.version).filter { $0 > known.last?.version ?? 0 }
    if !newer.isEmpty {
      return warning(
        "the database has migrations that this program does not know", newer.map(String.init),
        remedy: "run the program that they came with")
    }
    if !changed.isEmpty {
      return warning(
        "applied with another text than this program's", changed,
        remedy: "compare deploy and database: a file must not change after it was applied")
    }
    if !outdatedFunctions.isEmpty {
      return warning(
        "functions of another version", outdatedFunctions,
        remedy:
          "run tacet migrate of the newest program that uses this database; it also fits them to columns of the host that were "
          + "added or dropped")
    }
    return CheckFinding(name, .ok, "\(known.count) applied, the last is \(known.last?.name ?? "none")")
  }

  private static func warning(_ found: String, _ names: [String], remedy: String) -> CheckFinding {
    CheckFinding(name, .warning, "\(found): \(names.joined(separator: ", "))", remedy: remedy)
  }
}

/// Whether the service's role may do what the service does.
enum RightsCheck {
  static let name = "rights"

  static func judge(_ missing: [MissingRight], role: String) -> [CheckFinding] {
    guard !missing.isEmpty else { return [CheckFinding(name, .ok, "role \(role) has what the service needs")] }
    let own = missing.filter(\.isOwn)
    let host = missing.filter { !$0.isOwn }
    return (own.isEmpty ? [] : [judge(own: own, role: role)]) + host.map { judge($0, role: role) }
  }

  /// One call mends all of them.
  private static func judge(own missing: [MissingRight], role: String) -> CheckFinding {
    let shown = missing.prefix(5).map { "\($0.privilege) on \($0.object)" }.joined(separator: ", ")
    let more = missing.count > 5 ? " and \(missing.count - 5) more" : ""
    return CheckFinding(
      name, .failure, "role \(role) lacks \(shown)\(more)",
      remedy: "as the owner of the schema, call tacet.grant_service(\(role.quotedLiteral))")
  }

  private static func judge(_ right: MissingRight, role: String) -> CheckFinding {
    let identifier = role.quotedIdentifier
    if let command = right.privilege.split(separator: " ").last, right.privilege.hasPrefix("policy for ") {
      let conditions = ["insert": "with check (true)", "delete": "using (true)"]
      let condition = conditions[String(command)] ?? "using (true) with check (true)"
      return CheckFinding(
        name, .failure, "row-level security lets role \(role) \(command) no row of \(right.object)",
        remedy: "create policy tacet_service_\(command) on \(right.object) for \(command) to \(identifier) \(condition)"
      )
    }
    guard right.privilege != "policy" else {
      return CheckFinding(
        name, .failure, "row-level security hides the rows of \(right.object) from role \(role)",
        remedy: "create policy tacet_service on \(right.object) to \(identifier) using (true) with check (true)")
    }
    return CheckFinding(
      name, .failure, "role \(role) lacks \(right.privilege) on \(right.object)",
      remedy: "grant \(right.privilege) on \(right.object) to \(identifier)")
  }
}

/// Whether device tokens are out of the reach of strangers: a role that writes one can get another user's pushes.
enum TokenAccessCheck {
  static let name = "token access"

  static func judge(_ access: [TokenAccess]) -> [CheckFinding] {
    guard !access.isEmpty else {
      return [CheckFinding(name, .ok, "no other role than the owner and the service reaches push_tokens")]
    }
    return access.map {
      let role = $0.role == "public" ? "public" : $0.role.quotedIdentifier
      return CheckFinding(
        name, .failure, "role \($0.role) can \($0.privileges) on every row of public.push_tokens",
        remedy:
          "revoke \($0.privileges) on public.push_tokens from \(role), or enable row-level security with policies "
          + "for a user's own rows; a server of yours that writes tokens can have BYPASSRLS")
    }
  }
}

/// Whether the host's tables tell the service what happens.
enum TriggerCheck {
  static let name = "triggers"

  /// A trigger that the default host has: what it runs, and what goes without it.
  private struct Expected {
    let function: String
    var argument = ""
    let table: String
    let consequence: String
  }

  private static let holdsLast = "holds last until their window ends"

  private static let expected = [
    Expected(
      function: "release_concerned", argument: "read", table: "messages",
      consequence: "reading ends no hold; \(holdsLast)"),
    Expected(
      function: "release_concerned", argument: "deleted", table: "messages",
      consequence: "deleting ends no hold; \(holdsLast)"),
    Expected(
      function: "release_concerned", argument: "seen", table: "conversation_participants",
      consequence: "being seen ends no hold; \(holdsLast)"),
    Expected(
      function: "release_concerned", argument: "left", table: "conversation_participants",
      consequence: "leaving ends no hold; \(holdsLast)"),
  ]

  /// - Parameters:
  ///   - messageTables: those with the trigger on inserts.
  ///   - tables: those of the default host that the host contract reads; what ends holds is expected there only.
  static func judge(
    _ triggers: [ExaminedTrigger], messageTables: [ExaminedMessageTable] = [],
    kinds: [(kind: String, trigger: ExaminedTrigger)], tables: Set<String>, replicationRole: String,
    replicationRoles: [String]
  ) -> [CheckFinding] {
    var found =
      messages(triggers)
      + expected.filter { tables.contains($0.table) }.compactMap { missing($0, in: triggers) }
    found += triggers.compactMap(asleep)
    found += messageTables.flatMap(judge)
    found += kinds.compactMap(judge)
    found += roles(replicationRole, replicationRoles)
    guard found.isEmpty else { return found }
    let kinds = Set(kinds.map(\.kind)).sorted()
    let watched = kinds.isEmpty ? "" : "; watched kinds: \(kinds.joined(separator: ", "))"
    let partitioned = messageTables.filter { $0.otherPartitions > 0 }.map {
      "; rows inserted into a partition of \($0.name) by its name are not seen"
    }
    return [CheckFinding(name, .ok, "\(triggers.count) present and enabled\(watched)\(partitioned.joined())")]
  }

  /// A trigger on some partitions shows that the host inserts into partitions by their names.
  private static func judge(_ table: ExaminedMessageTable) -> [CheckFinding] {
    var found: [CheckFinding] = []
    if let key = table.repeatingKey {
      found.append(
        CheckFinding(
          name, .failure,
          "ids of \(table.name) may repeat, because its primary key is (\(key)): Tacet finds messages by id",
          remedy: "if ids are unique, create unique index concurrently on \(table.name) (id); db/CONTRACT.md says more")
      )
    }
    if table.watchedPartitions > 0, table.otherPartitions > 0 {
      let all = table.watchedPartitions + table.otherPartitions
      found.append(
        CheckFinding(
          name, .warning,
          "\(table.otherPartitions) of \(all) partitions of \(table.name) have no trigger on inserted messages: rows inserted "
            + "into them by their names are not pushed",
          remedy: "create trigger tacet_message_inserted on each as db/CONTRACT.md shows, or insert into \(table.name)")
      )
    }
    return found
  }

  private static func messages(_ triggers: [ExaminedTrigger]) -> [CheckFinding] {
    if triggers.contains(where: { $0.function == "enqueue_inserted_messages" }) { return [] }
    return [
      CheckFinding(
        name, .failure, "no table has the trigger on inserted messages: messages are pushed by webhook only",
        remedy: "create trigger tacet_message_inserted as db/CONTRACT.md shows")
    ]
  }

  private static func missing(_ expected: Expected, in triggers: [ExaminedTrigger]) -> CheckFinding? {
    if triggers.contains(where: { $0.function == expected.function && $0.argument == expected.argument }) { return nil }
    return CheckFinding(
      name, .warning, "no trigger runs tacet.\(expected.function)('\(expected.argument)'): \(expected.consequence)",
      remedy: "make it on \(expected.table) as migration 0001_baseline does, or call tacet.release_holds yourself")
  }

  /// A trigger that is there and does not fire.
  private static func asleep(_ trigger: ExaminedTrigger) -> CheckFinding? {
    let enable = "alter table \(trigger.table) enable trigger \(trigger.name)"
    switch trigger.state {
    case .ordinary, .always: return nil
    case .replica:
      return CheckFinding(
        name, .failure, "\(trigger.name) on \(trigger.table) fires in replica sessions only", remedy: enable)
    case .disabled, nil:
      return CheckFinding(name, .failure, "\(trigger.name) on \(trigger.table) is disabled", remedy: enable)
    }
  }

  /// Those that are there are among all triggers.
  private static func judge(kind: String, trigger: ExaminedTrigger) -> CheckFinding? {
    guard trigger.state == nil else { return nil }
    let function = kind.hasPrefix("activity:") ? "tacet.watch_activity" : "tacet.watch"
    return CheckFinding(
      name, .failure, "the watched kind \(kind) has no trigger \(trigger.name) on \(trigger.table)",
      remedy: "call \(function) for it again")
  }

  private static func roles(_ own: String, _ others: [String]) -> [CheckFinding] {
    let names = (own == "replica" ? ["this session"] : []) + others
    guard !names.isEmpty else { return [] }
    return [
      CheckFinding(
        name, .failure,
        "session_replication_role is replica for \(names.joined(separator: ", ")): what they insert is not seen",
        remedy: "alter role … reset session_replication_role, for the host's roles")
    ]
  }
}

/// Whether the statements find their rows by index.
enum IndexCheck {
  static let name = "indexes"

  static func judge(queue: [ExaminedIndex], host: [ExaminedIndex]) -> [CheckFinding] {
    let found =
      queue.compactMap { judge($0, verdict: .failure) } + host.compactMap { judge($0, verdict: .warning) }
    return found.isEmpty ? [CheckFinding(name, .ok, "\(queue.count + host.count) present and valid")] : found
  }

  private static func judge(_ index: ExaminedIndex, verdict: CheckFinding.Verdict) -> CheckFinding? {
    switch index.isUsable {
    case true?: return nil
    case false?:
      return CheckFinding(
        name, verdict, "\(index.name) is not valid: a build of it failed or has not ended",
        remedy: "reindex index concurrently \(index.name), in its schema")
    case nil:
      return CheckFinding(
        name, verdict, "\(index.name) is not there",
        remedy: "create it as in db/migrations, concurrently if the table is large")
    }
  }
}

/// Whether the server would run a claim through the indexes.
enum PlanCheck {
  static let name = "claim plan"

  /// A claim must find rows of these by index however large they are; the host's tables are looked at by its functions.
  private static let queueTables = ["inbox", "deliveries", "push_log"]
  private static let hostTables = ["messages", "conversation_participants", "push_tokens", "profiles"]

  static func judge(_ plan: [String]) -> [CheckFinding] {
    let found =
      queueTables.compactMap { judge($0, in: plan, .failure) } + hostTables.compactMap { judge($0, in: plan, .warning) }
    return found.isEmpty ? [CheckFinding(name, .ok, "reads no table whole")] : found
  }

  private static func judge(_ table: String, in plan: [String], _ verdict: CheckFinding.Verdict) -> CheckFinding? {
    let isRead = plan.contains { line in
      guard let scan = line.firstRange(of: "Seq Scan on ") else { return false }
      return line[scan.upperBound...].prefix { $0 != " " } == table
    }
    guard isRead else { return nil }
    return CheckFinding(
      name, verdict, "a claim would read the whole table \(table)",
      remedy: "mend what the indexes check shows; then analyze \(table)")
  }
}
