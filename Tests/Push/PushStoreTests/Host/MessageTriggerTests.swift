import Foundation
import Postgres
import PushRules
import TestIDs
import TestRepository
import Testing

@Suite("Trigger on messages")
struct MessageTriggerTests {
  /// Ways to insert three messages, as the rest of a statement that knows a `source` of ids.
  static let insertions = [
    "insert into messages (id, conversation_id, from_id) values ('$1', $c), ('$2', $c), ('$3', $c)",
    "insert into messages (id, conversation_id, from_id) select u, $c from unnest('{$1,$2,$3}'::uuid[]) u",
    "insert into messages (id, conversation_id, from_id) select u, $c from unnest('{$1,$2,$2,$3}'::uuid[]) u on conflict do nothing",
    "insert into messages (id, conversation_id, from_id) select u, $c from unnest('{$1,$2,$3}'::uuid[]) u on conflict (id) do update set text = 'x'",
    "with w as (insert into messages (id, conversation_id, from_id) values ('$1', $c), ('$2', $c), ('$3', $c) returning 1) select from w",
    "copy messages (id, conversation_id, from_id) from program 'printf ''$1,$p\\n$2,$p\\n$3,$p\\n''' with (format csv)",
  ]

  @Test("every inserted row has one inbox row, and the statement notifies once", arguments: insertions)
  func enqueues(_ insertion: String) async throws {
    let chat = try await Chat()
    let ids = (1...3).map { _ in HostID.new() }
    var sql = insertion.replacing("$c", with: "'\(chat.id)', '\(chat.sender)'")
    sql = sql.replacing("$p", with: "\(chat.id),\(chat.sender)")
    for (number, id) in ids.enumerated() { sql = sql.replacing("$\(number + 1)", with: "\(id)") }
    #expect(try await notifications(of: sql, in: chat.database) == 1)
    let inbox = try await chat.database.sql(
      "select subject_id from tacet.inbox where kind = 'message' and attempts = 0")
    #expect(Set(inbox.split(separator: "\n").map { HostID(text: String($0)) }) == Set(ids))
    #expect(try await failures(chat.database) == "0")
  }

  @Test(
    "a statement that inserts nothing notifies nobody",
    arguments: [
      "insert into messages (id, conversation_id, from_id) select id, conversation_id, from_id from messages on conflict do nothing",
      "insert into messages (id, conversation_id, from_id) select id, conversation_id, from_id from messages where false",
      "update messages set text = 'changed'", "delete from messages",
    ])
  func nothing(_ sql: String) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql("delete from tacet.inbox")
    #expect(try await notifications(of: sql, in: chat.database) == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "0")
  }

  @Test("nobody is notified while the service holds the awake lock, and again after")
  func awake() async throws {
    let chat = try await Chat()
    try await withSessions(chat.database, 1) { sessions, reactor in
      _ = try await sessions[0].value("pg_advisory_lock(1952539493, 1)", on: reactor)
      let send = chat.insertion(of: HostID.new())
      #expect(try await notifications(of: send, in: chat.database) == 0)
      _ = try await sessions[0].value("pg_advisory_unlock(1952539493, 1)", on: reactor)
      let again = chat.insertion(of: HostID.new())
      #expect(try await notifications(of: again, in: chat.database) == 1)
      #expect(try await sessions[0].value("select count(*) from tacet.inbox", on: reactor) == "2")
    }
  }

  @Test("another database's awake lock keeps nobody quiet")
  func awakeElsewhere() async throws {
    let chat = try await Chat()
    try await withSessions(try await TestDatabase.empty(), 1) { sessions, reactor in
      _ = try await sessions[0].value("pg_advisory_lock(1952539493, 1)", on: reactor)
      let send = chat.insertion(of: HostID.new())
      #expect(try await notifications(of: send, in: chat.database) == 1)
    }
  }

  @Test(
    "nobody is notified when nobody listens: not before the first said so, and not after the last has been silent",
    arguments: [
      ("null", 0), ("clock_timestamp()", 0), ("clock_timestamp() - interval '1 day'", 0),
      ("clock_timestamp() + interval '1 minute'", 1),
    ])
  func listeningUntil(_ until: String, _ count: Int) async throws {
    let chat = try await Chat()
    let send = chat.insertion(of: HostID.new())
    #expect(try await notifications(of: send, in: chat.database, listeningUntil: until) == count)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("a host that cannot have notifications switches them off")
  func disabled() async throws {
    let chat = try await Chat()
    try await chat.database.sql("update tacet.settings set notify_enabled = false")
    #expect(try await notifications(of: chat.insertion(of: HostID.new()), in: chat.database) == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
  }

  @Test("what is rolled back leaves neither inbox row nor notification")
  func rolledBack() async throws {
    let chat = try await Chat()
    let kept = HostID.new()
    let sql = """
      begin; \(chat.insertion(of: HostID.new())); rollback;
      begin; savepoint a; \(chat.insertion(of: HostID.new())); rollback to a; commit;
      """
    #expect(try await notifications(of: sql, in: chat.database) == 0)
    try await chat.database.sql(
      "begin; savepoint a; \(chat.insertion(of: HostID.new())); rollback to a; \(chat.insertion(of: kept)); commit")
    #expect(try await chat.database.sql("select subject_id from tacet.inbox") == kept.text)
  }

  @Test("the inbox row is seen together with its message, not before")
  func sameTransaction() async throws {
    let chat = try await Chat()
    try await withSessions(chat.database, 2) { sessions, reactor in
      try await sessions[0].run("begin; \(chat.insertion(of: HostID.new()))", on: reactor)
      #expect(try await sessions[1].value("select count(*) from tacet.inbox", on: reactor) == "0")
      try await sessions[0].run("commit", on: reactor)
      #expect(try await sessions[1].value("select count(*) from tacet.inbox", on: reactor) == "1")
    }
  }

  @Test("messages of a partitioned table are enqueued")
  func partitioned() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      """
      create table messages (
        id uuid, conversation_id uuid, from_id uuid, text text, read_by uuid[] default '{}',
        created_at timestamptz default now(), updated_at timestamptz default now()
      ) partition by hash (id);
      create table messages_0 partition of messages for values with (modulus 2, remainder 0);
      create table messages_1 partition of messages for values with (modulus 2, remainder 1)
      """)
    try await database.apply(Repository.hostTables)
    try await database.apply(Repository.install)
    try await database.sql("insert into messages (id) select gen_random_uuid() from generate_series(1, 8)")
    #expect(try await database.sql("select count(*) from tacet.inbox") == "8")
  }
}

/// Runs statements through a session that listens; how many notifications it heard.
/// - Parameter until: SQL for the time until which a service has said that it listens.
func notifications(
  of sql: String, in database: TestDatabase, listeningUntil until: String = "'infinity'"
) async throws -> Int {
  try await database.sql("update tacet.settings set listening_until = \(until)")
  return try await database.sql("listen tacet; commit; \(sql)").matches(of: /Asynchronous notification "tacet"/).count
}

/// How many errors the triggers have swallowed.
func failures(_ database: TestDatabase) async throws -> String {
  try await database.sql("select count(*) from tacet.trigger_failures")
}

@Suite("Trigger on messages: the host comes first")
struct MessageTriggerSafetyTests {
  @Test("a role without any right on our schema inserts messages")
  func rights() async throws {
    let chat = try await Chat()
    let role = try await makeRole(
      in: chat.database, "grant select, insert on messages to $role; alter role $role bypassrls")
    try await chat.database.sql("set role \(role); \(chat.insertion(of: HostID.new()))")
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test(
    "a role without rights can neither read our tables nor call our functions",
    arguments: [
      "select from tacet.inbox", "select webhook_secret from tacet.settings", "select tacet.wake(null)",
      "select tacet.webhook_headers('', 'guess')", "select tacet.invalidate_device_token('t', 'r', now())",
    ])
  func noRights(_ sql: String) async throws {
    let chat = try await Chat()
    let role = try await makeRole(in: chat.database)
    await #expect { try await chat.database.sql("set role \(role); \(sql)") } throws: {
      "\($0)".contains("permission denied")
    }
  }

  @Test("columns of the host named like our own names confuse nothing")
  func hostileColumns() async throws {
    let chat = try await Chat()
    let names = [
      "kind", "subject_id", "inserted", "configuration", "body", "sqlstate", "first_subject_id", "message", "attempts",
      "secret", "key", "tacet", "found",
    ]
    let columns = names.map { "add column \($0) text default 'x'" }.joined(separator: ", ")
    try await chat.database.sql("alter table messages \(columns)")
    #expect(try await notifications(of: chat.insertion(of: HostID.new()), in: chat.database) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("generated and identity columns are no obstacle")
  func generatedColumns() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      alter table messages add column length int generated always as (length(text)) stored,
        add column number bigint generated always as identity
      """)
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("functions, operators and tables that the caller's search_path puts first are not used")
  func searchPath() async throws {
    let chat = try await Chat()
    try await chat.database.sql(Self.attack)
    let send = "set search_path = evil, pg_catalog, public; \(chat.insertion(of: HostID.new()))"
    #expect(try await notifications(of: send, in: chat.database) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await chat.database.sql("select string_agg(what, ' ') from evil.calls") == "")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("temporary tables of the caller are not used")
  func temporaryTables() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      create temp table inserted (id uuid); create temp table settings (notify_enabled boolean);
      create temp table inbox (subject_id uuid, kind text); \(chat.insertion(of: HostID.new()))
      """)
    #expect(try await chat.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(chat.database) == "0")
  }

  @Test("an inbox locked by somebody else holds an insert up for a moment only, and is counted")
  func locked() async throws {
    let chat = try await Chat()
    try await withSessions(chat.database, 1) { sessions, reactor in
      try await sessions[0].run("begin; lock table tacet.inbox in access exclusive mode", on: reactor)
      let start = ContinuousClock.now
      let message = try await chat.send()
      // Less than half a second is what the trigger allows itself; the rest is for a busy machine.
      #expect(ContinuousClock.now - start < .seconds(10))
      try await sessions[0].run("rollback", on: reactor)
      #expect(
        try await sessions[0].value("select id from public.messages", on: reactor) == message.text)
      #expect(try await sessions[0].rows("select sqlstate from tacet.trigger_failures", on: reactor) == "(55P03)")
    }
  }

  @Test("a lock that is gone within a third of a second is waited for", arguments: ["tacet.inbox", "tacet.settings"])
  func lockedBriefly(_ table: String) async throws {
    let chat = try await Chat()
    try await withTwoSessions(chat.database) { other, host, reactor in
      // A machine that stood still meanwhile has shown nothing.
      for _ in 0..<20 {
        try await host.run("truncate tacet.inbox, tacet.trigger_failures", on: reactor)
        try await other.run("begin; lock table \(table) in access exclusive mode", on: reactor)
        let start = ContinuousClock.now
        let insertion = Begun.begin(on: reactor) { try await host.run(chat.insertion(of: HostID.new()), on: reactor) }
        try await other.awaitTrue(Self.hasWaited(host), on: reactor)
        try await other.run("rollback", on: reactor)
        let waited = ContinuousClock.now - start
        try await insertion.value(on: reactor)
        guard waited < .milliseconds(330) else { continue }
        #expect(try await host.rows("select from tacet.trigger_failures", on: reactor) == "")
        #expect(try await host.rows("select from tacet.inbox", on: reactor) == "()")
        return
      }
      Issue.record("the machine was too busy each time")
    }
  }

  /// Whether a session has waited for longer than most triggers do.
  private static func hasWaited(_ session: Session) -> String {
    """
    select a.wait_event_type = 'Lock' and clock_timestamp() - a.query_start > interval '100 ms'
    from pg_stat_activity a where a.pid = \(session.processID)
    """
  }

  @Test(
    "a statement_timeout that strikes while the trigger waits does not fail the insert", arguments: ["20ms", "80ms"])
  func statementTimeout(_ limit: String) async throws {
    let chat = try await Chat()
    try await withSessions(chat.database, 2) { sessions, reactor in
      let (other, host) = (sessions[0], sessions[1])
      // So that the time is spent in the trigger, and not on a session's first insert.
      try await host.run("begin; \(chat.insertion(of: HostID.new())); rollback", on: reactor)
      try await other.run(
        "begin; lock table tacet.inbox, tacet.trigger_failures, tacet.settings in access exclusive mode", on: reactor)
      try await host.run("set statement_timeout = '\(limit)'", on: reactor)
      // A machine that stood still before the trigger began has shown nothing.
      for _ in 0..<20 {
        do {
          try await host.run(chat.insertion(of: HostID.new()), on: reactor)
          break
        } catch let error as PostgresError where error.sqlState == .queryCanceled && error.function == nil {}
      }
      try await other.run("rollback", on: reactor)
      #expect(try await host.value("select count(*) from public.messages", on: reactor) == "1")
    }
  }

  @Test("the caller's own lock_timeout is as before after the insert")
  func lockTimeout() async throws {
    let chat = try await Chat()
    let after = try await chat.database.sql(
      "set lock_timeout = '7s'; \(chat.insertion(of: HostID.new())); show lock_timeout")
    #expect(after == "7s")
  }

  @Test(
    "whatever is missing on our side, messages are inserted",
    arguments: [
      "drop schema tacet cascade", "drop table tacet.inbox", "drop table tacet.settings",
      "drop table tacet.inbox, tacet.trigger_failures, tacet.settings", "drop function tacet.wake",
      "update tacet.settings set webhook_url = 'https://example.com'; drop function tacet.wake",
      "delete from tacet.settings",
    ])
  func missing(_ damage: String) async throws {
    let chat = try await Chat()
    try await chat.database.sql(damage)
    try await chat.send()
    #expect(try await chat.database.sql("select count(*) from messages") == "1")
  }

  @Test("an error in the inbox is counted once with its state and text")
  func counted() async throws {
    let chat = try await Chat()
    try await chat.database.sql("alter table tacet.inbox add constraint refuse check (kind <> 'message')")
    try await chat.send()
    let counted = try await chat.database.sql("select sqlstate, message like '%refuse%' from tacet.trigger_failures")
    #expect(counted == "23514|t")
  }

  @Test("an app whose message ids are uuids no more keeps inserting", .uuidsOnly)
  func otherIDs() async throws {
    let chat = try await Chat()
    try await chat.database.sql(
      """
      alter table messages drop column id cascade;
      alter table messages add column id bigserial;
      insert into messages (conversation_id, from_id) select c.conversation_id, c.user_id from conversation_participants c;
      """)
    #expect(try await chat.database.sql("select count(*) > 0 from messages") == "t")
    #expect(try await failures(chat.database) != "0")
  }

  private static let attack = """
    create schema evil;
    create table evil.calls (what text);
    create table evil.inserted (id uuid); create table evil.inbox (subject_id uuid, kind text);
    create table evil.settings (notify_enabled boolean);
    create function evil.pg_notify(text, text) returns void language sql
      as $$ insert into evil.calls values ('pg_notify') $$;
    create function evil.pg_try_advisory_xact_lock_shared(int, int) returns boolean language sql
      as $$ insert into evil.calls values ('lock'); select false $$;
    create function evil.to_regproc(text) returns regproc language sql
      as $$ insert into evil.calls values ('to_regproc'); select 'now'::regproc $$;
    create function evil.clock_timestamp() returns timestamptz language sql
      as $$ insert into evil.calls values ('clock_timestamp'); select now() $$;
    create function evil.equals(uuid, uuid) returns boolean language sql
      as $$ insert into evil.calls values ('='); select true $$;
    create operator evil.= (leftarg = uuid, rightarg = uuid, function = evil.equals)
    """
}

/// A role of its own: roles belong to the cluster that all tests share.
func makeRole(in database: TestDatabase, _ grants: String = "select") async throws -> String {
  let role = "role_" + UUID().uuidString.lowercased().filter { $0 != "-" }
  try await database.sql("create role \(role); \(grants.replacing("$role", with: role))")
  return role
}
