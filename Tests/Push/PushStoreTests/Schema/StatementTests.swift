import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

@Suite("Statements")
struct PushStatementsTests {
  /// A migrated database with the table of an extension that `examine_webhook_queue` reads where it is.
  private static func database() async throws -> TestDatabase {
    let database = try await TestDatabase.migrated()
    try await database.sql("create schema net; create table net.http_request_queue (id bigint)")
    return database
  }

  @Test("every statement can be prepared on the migrated database")
  func prepared() async throws {
    try await withSessions(try await Self.database(), 1) { sessions, reactor in
      for statement in PushStatements.all { try await sessions[0].connection.prepare(statement, on: reactor) }
    }
  }

  @Test(
    "a claim on a large database reads large tables through their indexes",
    arguments: ["force_custom_plan", "force_generic_plan"])
  func claimPlan(_ mode: String) async throws {
    let database = try await Self.large.value
    let plan = try await database.explain(
      PushStatements.claim, "20, 20, 60000000, 250, 6, '{production}', '{20}', 3600000000, '{0,1}', '{}'", mode
    )
    for table in [
      "push_log", "messages", "conversation_participants", "push_tokens", "profiles", "preferences x",
      "conversation_preferences x",
    ] {
      #expect(!plan.contains("Seq Scan on \(table)"), "\(plan)")
    }
    for function in ["message_context", "seen_by", "device_tokens", "recipient_preferences"] {
      #expect(!plan.contains("Function Scan on \(function)"), "the planner could not look into \(function)")
    }
    #expect(plan.contains("push_log_subject_idx"), "\(plan)")
  }

  @Test(
    "a look-up of an outcome uses the ledger's index",
    arguments: ["force_custom_plan", "force_generic_plan"])
  func ledgerPlan(_ mode: String) async throws {
    let database = try await Self.large.value
    for (statement, kind) in [
      (PushStatements.ingest, ""), (PushStatements.ingestEvent, ", 'request_claimed'"),
      (PushStatements.outcome, ", 'message'"),
    ] {
      let plan = try await database.explain(statement, "'\(HostID.new())'\(kind)", mode)
      #expect(!plan.contains("Seq Scan on push_log"), "\(plan)")
      #expect(plan.contains("push_log_subject_idx"), "\(plan)")
    }
  }

  @Test(
    "an explanation reads large tables through their indexes",
    arguments: ["force_custom_plan", "force_generic_plan"])
  func explanationPlan(_ mode: String) async throws {
    let database = try await Self.large.value
    let (id, all) = ("'\(HostID.new())'", "null")
    for (statement, arguments) in [
      (PushStatements.explainKinds, id), (PushStatements.explainEvent, "\(id), 'message'"),
      (PushStatements.explainKindsAlone, id), (PushStatements.explainEventAlone, "\(id), 'message'"),
      (PushStatements.explainRecipients, "\(id), 'message', \(all), 1001, 400"),
      (PushStatements.explainRecipients, "\(id), 'message', \(id), 2, 400"),
      (PushStatements.explainRecipientsAlone, "\(id), 'message', \(all), 1001, 400"),
      (PushStatements.explainDevices, "array[\(id)]::\(IDTypes.tested.users.rawValue)[]"),
      (PushStatements.explainDroppedDevices, "array[\(id)]::\(IDTypes.tested.users.rawValue)[]"),
    ] {
      let plan = try await database.explain(statement, arguments, mode)
      for table in [
        "push_log", "messages", "conversation_participants", "push_tokens", "profiles", "preferences",
        "conversation_preferences", "deliveries", "inbox", "parked", "trigger_failures", "pushes", "read_syncs",
      ] {
        #expect(!plan.contains("Seq Scan on \(table) "), "\(statement.name): \(plan)")
      }
      // Without sequential scans an index may be read from end to end instead.
      let whole = plan.split(separator: "->").filter { $0.contains(" using ") && !$0.contains("Index Cond: ") }
      // Of kinds and of processes there are a handful.
      #expect(
        whole.filter { !$0.contains(" on kinds ") && !$0.contains(" on instances ") } == [],
        "\(statement.name): \(plan)")
    }
  }

  /// 10,000 participants in 2,000 conversations, 20,000 messages, 100,000 ledger rows, 500 events that wait.
  private static let large = Task {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into profiles (id, name) select gen_random_uuid(), 'p' || n from generate_series(1, 5000) n;
      insert into conversations select from generate_series(1, 2000);
      with c as (select id, row_number() over () n from conversations),
        p as (select id, row_number() over () n from profiles)
      insert into conversation_participants (conversation_id, user_id)
      select c.id, p.id from generate_series(0, 9999) g join c on c.n = g / 5 + 1 join p on p.n = g % 5000 + 1;
      insert into push_tokens (user_id, device_token) select id, id::text from profiles;
      insert into messages (conversation_id, from_id, text)
      select conversation_id, user_id, 'text' from conversation_participants, generate_series(1, 2);
      truncate tacet.inbox;
      insert into tacet.inbox (subject_id, kind) select id, 'message' from messages limit 500;
      insert into tacet.push_log (user_id, subject_id, push_type, decision)
      select m.from_id, gen_random_uuid(), 'message', 'sent' from messages m, generate_series(1, 5)
      """)
    try await database.sql("analyze")
    return database
  }
}

extension PostgresStatement {
  /// The types of its parameters in the databases of this run, as `prepare` lists them.
  var typeNames: String {
    resolved(by: IDTypes.tested.postgresTypes).parameterTypes.map(\.description).joined(separator: ", ")
  }
}

extension TestDatabase {
  /// How a statement would be run.
  /// - Parameters:
  ///   - arguments: SQL expressions.
  ///   - mode: a `plan_cache_mode`.
  func explain(_ statement: PostgresStatement, _ arguments: String, _ mode: String) async throws -> String {
    let types = statement.typeNames
    // Empty parentheses are no syntax.
    let (declared, given) = types.isEmpty ? ("", "") : ("(\(types))", "(\(arguments))")
    return try await sql(
      """
      set search_path = pg_catalog, pg_temp; set enable_seqscan = off; set plan_cache_mode = \(mode);
      prepare s \(declared) as \(statement.sql); explain execute s \(given)
      """)
  }
}

/// What several statements, or a statement and the code, say alike.
@Suite("Texts of statements")
struct StatementTextTests {
  @Test(
    "a number that the code knows too is the same",
    arguments: [
      ("claim", "from tacet.push_targets", "limit \(ClaimLimits.devicesMax) "),
      ("claim", "octet_length(d.address)", "<= \(PushTarget.addressBytesMax) "),
      ("claim", "left(coalesce(n.app, '')", ", \(BundleIdentifier.bytesMax + 1))"),
      ("record", "jsonb_array_length(l.history)", "< \(HistoryEntry.keptMax) "),
      ("record", "(l.history -", " \(HistoryEntry.keptMax / 2))"),
      ("explain_event", "from tacet.push_log l", "limit \(EventFacts.countMax) "),
      ("overview_lanes", "d.lane = n.lane", "limit \(PushDatabase.overviewCountMax + 1) "),
      ("overview_ledger", "least(59", ", n.age_us / (r.us / \(LedgerFigures().slices.count)))"),
      ("examine_backlog", "from tacet.inbox i", " limit \(ExaminedBacklog.rowsMax))"),
      ("examine_erasures", "order by e.due_at", "limit \(ExaminedBacklog.rowsMax) "),
      ("examine_campaign_work", "not d.has_slot", "limit \(ExaminedBacklog.rowsMax) "),
    ])
  func numbers(_ path: String, _ place: String, _ number: String) throws {
    let rest = try Statement(path).rest(from: place).prefix(300)
    #expect(rest.contains(number), "\(rest)")
  }
}

/// A statement of `db/statements` on one line, without comments.
private struct Statement {
  let text: String

  init(_ name: String) throws {
    text = try Self.lines(of: name).filter { !$0.hasPrefix("--") }.joined(separator: " ")
  }

  private static func lines(of name: String) throws -> [String] {
    let files = try Repository.files(in: "db/statements", ending: "sql").map {
      try String(contentsOf: $0, encoding: .utf8)
    }
    let sections = files.flatMap { $0.split(separator: #/\n-- (name|part): /#) }
    let section = try #require(sections.first { $0.hasPrefix("\(name)\n") || $0.hasPrefix("\(name)(") }, "\(name)")
    return try section.split(separator: "\n").dropFirst().flatMap { line in
      let line = String(line.trimmingPrefix(while: \.isWhitespace))
      guard line.hasPrefix("-- include: ") else { return [line] }
      return try lines(of: String(line.dropFirst(12)))
    }
  }

  func rest(from start: String) throws -> Substring { try text[#require(text.firstRange(of: start)).lowerBound...] }
}

/// What the planner believes of the queue is what a vacuum has last seen, and that is nearly always an empty table.
@Suite("Plans of claims")
struct QueuePlanTests {
  enum QueueState: String, CaseIterable, Sendable {
    case fresh, emptied, live, backlog

    /// Statements, each a transaction of its own.
    var statements: [String] {
      switch self {
      case .fresh: []
      case .emptied: [Self.inserting(30_000), "delete from tacet.inbox", "vacuum analyze tacet.inbox"]
      case .live: [Self.inserting(200), "vacuum analyze tacet.inbox"]
      case .backlog: Self.emptied.statements + [Self.inserting(100_000)]
      }
    }

    private static func inserting(_ rows: Int) -> String {
      """
      insert into tacet.inbox (subject_id, kind, conversation_id)
      select gen_random_uuid(), 'message', gen_random_uuid() from generate_series(1, \(rows))
      """
    }
  }

  @Test("new events are read by their availability and nothing is read whole", arguments: QueueState.allCases)
  func plans(_ state: QueueState) async throws {
    let database = try await TestDatabase.migrated()
    for statement in state.statements { try await database.sql(statement) }
    if state == .emptied || state == .backlog {
      let pages = try await database.sql("select relpages >= 500 from pg_class where oid = 'tacet.inbox'::regclass")
      #expect(pages == "t")
    }
    let (index, shards) = ("inbox_available_idx", "'{0,1,2,3}'")
    try await expectLooks(
      of: PushStatements.claimMessages, "64, 250, 300000000, 0, \(shards), '{}'", on: database, by: [index])
    try await expectLooks(of: PushStatements.hasMessages, "300000000, 0, \(shards), '{}'", on: database, by: [index])
    try await expectLooks(
      of: PushStatements.waitingWork, "300000000, '{a/production}', \(shards), '{}'", on: database,
      by: [index, index, index])
    let lanes = "6, '{a/production}', '{64}', 3600000000, \(shards), '{}'"
    try await expectLooks(
      of: PushStatements.claim, "64, 64, 30000000, 250, \(lanes)", on: database, by: [index, index, index])
    try await expectLooks(
      of: PushStatements.lease, "64, 64, 30000000, \(lanes)", on: database, by: [index, index, index])
  }

  @Test("stored pushes are read by their ids, also while there seem to be none")
  func storedPushes() async throws {
    let database = try await TestDatabase.migrated()
    let plan = try await plan(
      of: PushStatements.claim,
      "64, 64, 30000000, 250, 6, '{a/production}', '{64}', 3600000000, '{0,1}', '{}'",
      on: database)
    let looks = plan.split(separator: "\n").filter { $0.contains(" on pushes") }
    // The content and the user.
    #expect(looks.count == 2, "\(plan)")
    #expect(looks.allSatisfy { $0.contains("using pushes_pkey ") }, "\(plan)")
  }

  /// - Parameter indexes: those by which the inbox is read other than by place, in the plan's order.
  private func expectLooks(
    of statement: PostgresStatement, _ values: String, on database: TestDatabase, by indexes: [String]
  ) async throws {
    let plan = try await plan(of: statement, values, on: database)
    let looks = plan.split(separator: "\n").filter { $0.contains(" on inbox ") && !$0.contains("Tid Scan") }
      .filter { !$0.contains("Update on") }
    #expect(looks.count == indexes.count, "\(plan)")
    for (look, index) in zip(looks, indexes) { #expect(look.contains("using \(index) "), "\(plan)") }
    #expect(!plan.contains("Bitmap") && !plan.contains("Seq Scan on inbox"), "\(plan)")
  }

  private func plan(
    of statement: PostgresStatement, _ values: String, on database: TestDatabase
  ) async throws -> String {
    let settings = PushDatabase.serviceSettings.map { "set \($0) = \($1);" }.joined(separator: " ")
    return try await database.sql(
      "\(settings) prepare s (\(statement.typeNames)) as \(statement.sql); explain (costs off) execute s (\(values))")
  }
}

@Suite("What waits for the disk")
struct DurableStatementTests {
  @Test("what users' apps were told is done is on disk, though the session commits without waiting")
  func durable() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withSessions(chat.database, 1) { sessions, reactor in
      let (user, none) = (chat.reader, String?.none)
      let calls: [StatementCall] = [
        .registerDevice(
          userID: user, deviceToken: "aa", environment: none, app: none, platform: none, locale: none, timeZone: none,
          authStatus: none, wishes: "{}", devicesMax: 10),
        .removeDevice(userID: user, deviceToken: "aa"),
        .putPreferences(
          userID: user, quietStart: Int?.none, quietEnd: Int?.none, quietZone: none, quietPolicy: none,
          disabledKinds: [String](), conversationIDs: [HostID](), muted: [Bool](), mutedUntilMicroseconds: [Int64?](),
          mentionsOnly: [Bool](), content: none, unreadKinds: [String](), unreadSeconds: [Int64?]()),
        .reportSlotAction(
          userID: user, eventID: UUID(), action: "OPEN", identifier: "daily.0800.2026-11-22",
          happenedMicroseconds: Int64(0)),
        .reportSlotEvents(
          userID: user, ids: [UUID](), codes: [String](), identifiers: [String?](), deviceTokens: [String?](),
          circumstances: [String](), happenedMicroseconds: [Int64]()),
        .readConversation(
          conversationID: chat.id, userID: user, messageID: HostID?.none, deviceToken: none, isSynced: true),
      ]
      for call in calls {
        try await sessions[0].run("set synchronous_commit = off; begin", on: reactor)
        try await sessions[0].connection.query(call, on: reactor)
        let setting = try await sessions[0].value("current_setting('synchronous_commit')", on: reactor)
        #expect(setting == "on", "\(call.statement.name)")
        try await sessions[0].run("commit", on: reactor)
        #expect(try await sessions[0].value("current_setting('synchronous_commit')", on: reactor) == "off")
      }
    }
  }
}
