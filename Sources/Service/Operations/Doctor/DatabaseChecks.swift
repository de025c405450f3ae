internal import Postgres
internal import PushStore

// Whether the database can be reached, and is one that the service can work with.
extension Judgement {
  static func unreachable(_ error: PostgresError) -> Judgement {
    let remedy =
      switch (error.sqlState, error.code) {
      case (.invalidPassword?, _): "correct the user or password in DATABASE_URL"
      case (.invalidCatalogName?, _): "correct the database or user in DATABASE_URL, or create it"
      case (.cannotConnectNow?, _): "wait until the server has started"
      case (_, .timedOut):
        "see whether a firewall drops the connection, and whether the host in DATABASE_URL is right"
      case (_, .invalidConfiguration): "correct DATABASE_URL"
      default: "see whether the server runs and listens where DATABASE_URL says"
      }
    return .failure(error.debugDescription, remedy: remedy)
  }

  static func server(_ server: ExaminedServer) -> Judgement {
    let version = "PostgreSQL \(server.version / 10_000).\(server.version % 10_000)"
    // The oldest version that the project is tested with.
    if server.version < 140_000 {
      return .failure("\(version) is too old", remedy: "upgrade to PostgreSQL 14 or later")
    }
    guard server.isStandby || server.isReadOnly else { return .ok(version) }
    return .failure(
      "\(version); \(PostgresError.takesNoWrites)",
      remedy: server.isStandby
        ? "name the primary in DATABASE_URL, or several hosts with target_session_attrs=read-write"
        : "end what made it read-only, such as a full disk at your provider, and reset the setting")
  }

  /// Whose the sessions are said to be, and whose they are.
  /// - Parameter isTransaction: whether `DATABASE_POOL_MODE` is `transaction`.
  static func pooler(_ server: ExaminedServer, host: String, isTransaction: Bool) -> Judgement {
    let pooler = pooler(at: host)
    return switch (server.isPooled, isTransaction) {
    case (false, false): .ok("none; sessions are the service's own")
    case (true, true):
      .ok("\(pooler), with DATABASE_POOL_MODE=transaction: nobody listens, webhooks and polling wake the service")
    case (true, false): .ok("\(pooler), with DATABASE_POOL_MODE=session; the listen check tells whether that is so")
    case (false, true):
      .warning(
        "none was found, but DATABASE_POOL_MODE is transaction: claims take longer and nobody listens",
        remedy: "set DATABASE_POOL_MODE=session if DATABASE_URL names the server itself")
    }
  }

  /// Supabase names the hosts of its own pooler; PgBouncer is the usual one elsewhere.
  static func pooler(at host: String) -> String {
    host.hasSuffix(".pooler.supabase.com") ? "Supavisor at \(host)" : "a pooler, such as PgBouncer"
  }

  /// Nothing where the database is the one that the settings were written in.
  static func copy(_ identity: DatabaseIdentity?) -> [Judgement] {
    guard let identity, identity.isForeign else { return [] }
    return [
      .failure(
        "a copy of another one (\(identity.noted ?? "")), which carries what waits there: tacet serve does not start",
        remedy: "run tacet adopt, which drops what waits; with --keep-waiting if the database has only moved")
    ]
  }

  /// Whether notifications reach the service through its connection.
  static func listening(_ outcome: ListenExamination.Outcome, pooler: String?) -> Judgement {
    let transactionMode = "set DATABASE_POOL_MODE=transaction, or name the server itself in DATABASE_URL"
    switch outcome {
    case .heard: return .ok("a notification from another session arrived")
    case .timedOut:
      return .failure("no notification arrived in time", remedy: "see whether the database is overloaded")
    case .failed(let error) where error.message.contains("unsupported startup parameter"):
      return .failure("PgBouncer refuses the session's settings (\(error.message))", remedy: transactionMode)
    case .failed(let error) where error.code == .deaf:
      let between = pooler.map { "\($0), stands between and swallows them" } ?? "a half-open connection or a pooler"
      return .failure("notifications do not arrive: \(between)", remedy: transactionMode)
    case .failed(let error):
      return .failure(error.debugDescription, remedy: "mend what the database check shows")
    }
  }

  /// Whether this machine and the database agree on the time.
  ///
  /// All ages are the database's, so a decision does not depend on this machine. What does: provider tokens (APNs takes them
  /// for an hour), clients' tokens (60 s of leeway), and webhooks that triggers sign (300 s).
  static func clock(_ comparison: ClockComparison) -> Judgement {
    let distance = max(comparison.difference, .zero - comparison.difference)
    // What is certain of it.
    let least = max(distance - comparison.uncertainty, .zero)
    let measure = "within \(FindingWords.duration(comparison.uncertainty)) of measurement"
    // Clocks kept by NTP differ by less than a tenth of a second; beyond two seconds one of them is not kept, and goes on
    // drifting.
    if least < .seconds(2) { return .ok("\(FindingWords.duration(distance)) from the database's, \(measure)") }
    let side = comparison.difference > .zero ? "behind" : "ahead of"
    // From 60 s on clients' tokens that are good are refused.
    return Judgement(
      least < .seconds(60) ? .warning : .failure,
      "this machine's is \(FindingWords.duration(distance)) \(side) the database's, \(measure)",
      remedy: "keep both by NTP; the times of requests, tokens and signatures depend on it")
  }

  /// What the failure of a look means.
  static func failed(_ error: PostgresError, of name: String) -> Judgement {
    switch error.sqlState?.description {
    case "42501" where name == DatabaseLooks.rightsName:
      .failure(
        "this role may use nothing of schema tacet",
        remedy: "as the owner of the schema, call tacet.grant_service with the role's name")
    case "42501": .skipped("this role may not look; see the rights check")
    case "42P01", "42703", "42883", "3F000":
      .skipped("there is nothing of this name to look at (\(error.description)); the host has its own")
    default: .failure(error.debugDescription, remedy: "see what the server's log says of it at this moment")
    }
  }
}

// Whether Tacet's schema, and the host's tables, are as the service needs them.
extension Judgement {
  /// Whether the schema is that of this program.
  /// - Parameters:
  ///   - changed: migrations that were applied with another text than this program's.
  ///   - outdatedFunctions: files of `db/functions` that are not those of this program.
  static func migrations(
    _ applied: [AppliedMigration], known: [Migration] = Migration.all, changed: [String] = [],
    outdatedFunctions: [String] = []
  ) -> Judgement {
    guard !applied.isEmpty else { return .failure("none was applied", remedy: "run tacet migrate") }
    switch SchemaSupport(applied: applied, known: known) {
    case .unreleased:
      return .failure(
        "the schema is from before the first release, and cannot be upgraded",
        remedy: "reinstall: run psql -X -f db/uninstall.sql, then tacet migrate")
    case .tooOld(let missing):
      return .failure("missing: \(missing.joined(separator: ", "))", remedy: "run tacet migrate")
    case .tooNew(let version, let oldest):
      return .failure(
        "migration \(version) needs a program that knows migration \(oldest)",
        remedy: "run the program that they came with")
    case .supported: break
    }
    let doubts: [(found: String, names: [String], remedy: String)] = [
      (
        "the database has migrations that this program does not know",
        applied.map(\.version).filter { $0 > known.last?.version ?? 0 }.map(String.init),
        "run the program that they came with"
      ),
      (
        "applied with another text than this program's", changed,
        "compare deploy and database: a file must not change after it was applied"
      ),
      (
        "functions of another version", outdatedFunctions,
        "run tacet migrate of the newest program that uses this database; it also fits them to columns of the host that were "
          + "added or dropped"
      ),
    ]
    guard let doubt = doubts.first(where: { !$0.names.isEmpty }) else {
      return .ok("\(known.count) applied, the last is \(known.last?.name ?? "none")")
    }
    return .warning("\(doubt.found): \(doubt.names.joined(separator: ", "))", remedy: doubt.remedy)
  }

  /// Whether the service's role may do what the service does.
  static func rights(_ missing: [MissingRight], role: String) -> [Judgement] {
    let own = missing.filter(\.isOwn).map { "\($0.privilege) on \($0.object)" }
    let more = own.count > 5 ? " and \(own.count - 5) more" : ""
    // One call mends all of them.
    let ours: [Judgement] =
      own.isEmpty
      ? []
      : [
        .failure(
          "role \(role) lacks \(own.prefix(5).joined(separator: ", "))\(more)",
          remedy: "as the owner of the schema, call tacet.grant_service(\(role.quotedLiteral))")
      ]
    return (ours + missing.filter { !$0.isOwn }.map { right($0, role: role) })
      .or("role \(role) has what the service needs")
  }

  private static func right(_ right: MissingRight, role: String) -> Judgement {
    let (table, identifier) = (right.object, role.quotedIdentifier)
    if right.privilege == "policy" {
      return .failure(
        "row-level security hides the rows of \(table) from role \(role)",
        remedy: "create policy tacet_service on \(table) to \(identifier) using (true) with check (true)")
    }
    guard right.privilege.hasPrefix("policy for ") else {
      return .failure(
        "role \(role) lacks \(right.privilege) on \(table)",
        remedy: "grant \(right.privilege) on \(table) to \(identifier)")
    }
    let command = String(right.privilege.dropFirst("policy for ".count))
    let condition =
      ["insert": "with check (true)", "delete": "using (true)"][command] ?? "using (true) with check (true)"
    return .failure(
      "row-level security lets role \(role) \(command) no row of \(table)",
      remedy: "create policy tacet_service_\(command) on \(table) for \(command) to \(identifier) \(condition)")
  }

  /// Whether device tokens are out of the reach of strangers: a role that writes one can get another user's pushes.
  static func tokenAccess(_ access: [TokenAccess]) -> [Judgement] {
    access.map {
      let role = $0.role == "public" ? "public" : $0.role.quotedIdentifier
      let revoke = "revoke \($0.privileges) on public.push_tokens from \(role)"
      // Row-level security, which keeps a role from rows, does not keep it from these.
      guard $0.privileges.contains(/select|insert|update|delete/) else {
        return .warning("role \($0.role) can \($0.privileges) on public.push_tokens", remedy: revoke)
      }
      return .failure(
        "role \($0.role) can \($0.privileges) on every row of public.push_tokens",
        remedy: revoke
          + ", or enable row-level security with policies for a user's own rows; a server of yours that writes tokens can have "
          + "BYPASSRLS")
    }.or("no other role than the owner and the service reaches push_tokens")
  }

  /// Whether the host's tables tell the service what happens.
  /// - Parameters:
  ///   - messageTables: those with the trigger on inserts.
  ///   - tables: those of the default host that the host contract reads; what ends holds is expected there only.
  static func triggers(
    _ triggers: [ExaminedTrigger], messageTables: [ExaminedMessageTable] = [],
    kinds: [(kind: String, trigger: ExaminedTrigger)], tables: Set<String>, replicationRole: String,
    replicationRoles: [String]
  ) -> [Judgement] {
    var found: [Judgement] = []
    if !triggers.contains(where: { $0.function == "enqueue_inserted_messages" }) {
      found.append(
        .failure(
          "no table has the trigger on inserted messages: messages are pushed by webhook only",
          remedy: "create trigger tacet_message_inserted as db/CONTRACT.md shows"))
    }
    for (event, table, what) in endsOfHolds
    where tables.contains(table)
      && !triggers.contains(where: { $0.function == "release_concerned" && $0.argument == event })
    {
      found.append(
        .warning(
          "no trigger runs tacet.release_concerned('\(event)'): \(what) ends no hold; holds last until their window ends",
          remedy: "make it on \(table) as migration 0001_baseline does, or call tacet.release_holds yourself"))
    }
    found += triggers.compactMap(asleep) + messageTables.flatMap(messageTable)
    // The triggers of watched kinds that are there are among all triggers.
    for (kind, trigger) in kinds where trigger.state == nil {
      let function = kind.hasPrefix("activity:") ? "tacet.watch_activity" : "tacet.watch"
      found.append(
        .failure(
          "the watched kind \(kind) has no trigger \(trigger.name) on \(trigger.table)",
          remedy: "call \(function) for it again"))
    }
    let deaf = (replicationRole == "replica" ? ["this session"] : []) + replicationRoles
    if !deaf.isEmpty {
      found.append(
        .failure(
          "session_replication_role is replica for \(deaf.joined(separator: ", ")): what they insert is not seen",
          remedy: "alter role … reset session_replication_role, for the host's roles"))
    }
    let watched = Set(kinds.map(\.kind)).sorted().joined(separator: ", ")
    let partitioned = messageTables.filter { $0.otherPartitions > 0 }.map {
      "; rows inserted into a partition of \($0.name) by its name are not seen"
    }
    return found.or(
      "\(triggers.count) present and enabled\(watched.isEmpty ? "" : "; watched kinds: \(watched)")\(partitioned.joined())"
    )
  }

  /// Triggers of the default host: their argument, their table, and what goes without them.
  private static let endsOfHolds = [
    ("read", "messages", "reading"), ("deleted", "messages", "deleting"),
    ("seen", "conversation_participants", "being seen"), ("left", "conversation_participants", "leaving"),
  ]

  /// A trigger that is there and does not fire.
  private static func asleep(_ trigger: ExaminedTrigger) -> Judgement? {
    if trigger.state == .ordinary || trigger.state == .always { return nil }
    let state = trigger.state == .replica ? "fires in replica sessions only" : "is disabled"
    return .failure(
      "\(trigger.name) on \(trigger.table) \(state)",
      remedy: "alter table \(trigger.table) enable trigger \(trigger.name)")
  }

  private static func messageTable(_ table: ExaminedMessageTable) -> [Judgement] {
    var found: [Judgement] = []
    if let key = table.repeatingKey {
      found.append(
        .failure(
          "ids of \(table.name) may repeat, because its primary key is (\(key)): Tacet finds messages by id",
          remedy: "if ids are unique, create unique index concurrently on \(table.name) (id); db/CONTRACT.md says more")
      )
    }
    // A trigger on some partitions shows that the host inserts into partitions by their names.
    if table.watchedPartitions > 0, table.otherPartitions > 0 {
      let all = table.watchedPartitions + table.otherPartitions
      found.append(
        .warning(
          "\(table.otherPartitions) of \(all) partitions of \(table.name) have no trigger on inserted messages: rows inserted "
            + "into them by their names are not pushed",
          remedy: "create trigger tacet_message_inserted on each as db/CONTRACT.md shows, or insert into \(table.name)")
      )
    }
    return found
  }

  /// Whether the statements find their rows by index.
  static func indexes(queue: [ExaminedIndex], host: [ExaminedIndex]) -> [Judgement] {
    func faults(_ indexes: [ExaminedIndex], _ verdict: Verdict) -> [Judgement] {
      indexes.filter { $0.isUsable != true }.map {
        $0.isUsable == nil
          ? Judgement(
            verdict, "\($0.name) is not there",
            remedy: "create it as in db/migrations, concurrently if the table is large")
          : Judgement(
            verdict, "\($0.name) is not valid: a build of it failed or has not ended",
            remedy: "reindex index concurrently \($0.name), in its schema")
      }
    }
    return (faults(queue, .failure) + faults(host, .warning)).or("\(queue.count + host.count) present and valid")
  }

  /// Whether the server would run a claim through the indexes. A claim must find rows of the queue's tables by index however large
  /// they are; the host's tables are looked at by its functions.
  static func claimPlan(_ plan: [String]) -> [Judgement] {
    let scanned = plan.compactMap { line in
      line.firstRange(of: "Seq Scan on ").map { line[$0.upperBound...].prefix { $0 != " " } }
    }
    func faults(_ tables: [Substring], _ verdict: Verdict) -> [Judgement] {
      tables.filter(scanned.contains).map {
        Judgement(
          verdict, "a claim would read the whole table \($0)",
          remedy: "mend what the indexes check shows; then analyze \($0)")
      }
    }
    return
      (faults(["inbox", "deliveries", "push_log"], .failure)
      + faults(["messages", "conversation_participants", "push_tokens", "profiles"], .warning))
      .or("reads no table whole")
  }
}
