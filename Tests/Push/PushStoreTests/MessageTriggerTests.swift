import Foundation
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
