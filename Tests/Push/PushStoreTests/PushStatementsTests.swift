import Foundation
import Postgres
import PushRules
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
      PushStatements.claim, "20, 20, 60000000, 250, 6, '{production}', '{20}', 3600000000, 0", mode)
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
