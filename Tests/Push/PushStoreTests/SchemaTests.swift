import Foundation
import TestIDs
import TestRepository
import Testing

@testable import PushStore

@Suite("The schema as text", .uuidsOnly)
struct SchemaTests {
  @Test("db/schema.sql is what an installation makes; TACET_WRITE_SCHEMA=1 writes it anew")
  func dump() async throws {
    let database = try await TestDatabase.migrated()
    let schema = try await Self.schema(of: database)
    let file = Repository.file("db/schema.sql")
    if ProcessInfo.processInfo.environment["TACET_WRITE_SCHEMA"] == "1" {
      try schema.write(to: file, atomically: true, encoding: .utf8)
    }
    let written = try String(contentsOf: file, encoding: .utf8)
    #expect(written == schema, "run this test with TACET_WRITE_SCHEMA=1 and look at the difference")
  }

  /// The dump without what is the same in every one, and with each function as one line: their bodies are in `db/functions`.
  private static func schema(of database: TestDatabase) async throws -> String {
    let dump = try await database.dumpSchema()
    let entries = dump.split(separator: "\n--\n-- Name: ").dropFirst().filter { entry in
      let head = entry.prefix { $0 != "\n" }
      let isRoutine = ["FUNCTION", "PROCEDURE"].contains { head.contains("Type: \($0)") || head.hasPrefix("\($0) ") }
      return !isRoutine
    }
    let statements = entries.map { entry in
      let lines = entry.split(separator: "\n").dropFirst().filter { !$0.hasPrefix("--") && !$0.hasPrefix("SET ") }
      return lines.joined(separator: "\n") + "\n"
    }
    let routines = try await database.sql(
      """
      select format('-- %s(%s)%s', p.oid::regproc, pg_get_function_arguments(p.oid), ' returns ' || pg_get_function_result(p.oid))
      from pg_proc p where p.pronamespace = 'tacet'::regnamespace order by p.oid::regprocedure::text collate "C"
      """)
    return """
      -- The schema of an installation with the default host tables, by pg_dump. A test compares it; nothing applies it.

      \(statements.joined(separator: "\n"))
      -- Functions, whose bodies are in functions/:
      \(routines)

      """
  }

  /// A host with tables, columns, indexes, settings and rights of its own.
  private static let host = """
    create schema app;
    create table profiles (avatar text, name text, id uuid primary key);
    create table conversations (title text, id uuid primary key);
    create table conversation_participants (
      role text not null default 'member', last_seen timestamptz, user_id uuid, conversation_id uuid
    ) with (autovacuum_vacuum_threshold = 7);
    create table messages (
      id uuid primary key, conversation_id uuid, from_id uuid, text text, read_by uuid[] not null default '{}',
      created_at timestamptz not null default now(), updated_at timestamptz
    );
    create index mine on messages (conversation_id, created_at);
    create table push_tokens (locale text, platform text not null default 'ios', device_token text, user_id uuid);
    create function app.touch() returns trigger language plpgsql as 'begin return new; end';
    create trigger touched before insert on messages for each row execute function app.touch();
    create policy mine on messages using (true);
    comment on table messages is 'of the host';
    insert into profiles (id, name) values ('00000000-0000-0000-0000-000000000001', 'Old');
    """

  @Test("db/uninstall.sql leaves the host's schema as it was before the installation", arguments: [true, false])
  func uninstalled(_ isByHand: Bool) async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.host)
    let before = try await database.dumpSchema()
    if isByHand { try await database.apply(Repository.install) } else { try await database.migrate() }
    try await database.sql(
      """
      insert into messages (id, from_id) values (gen_random_uuid(), '00000000-0000-0000-0000-000000000001');
      create trigger mine_too after insert on app.chat referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages()
      """.replacing("create trigger", with: "create table app.chat (id uuid); create trigger"))
    #expect(try await database.dumpSchema() != before)
    try await database.apply(Self.uninstall)
    try await database.sql("drop table app.chat")
    #expect(try await database.dumpSchema() == before)
    #expect(try await database.sql("select count(*), (select name from profiles) from messages") == "1|Old")
    try await database.apply(Repository.install)
  }

  @Test("tables that --create-host-tables made stay, without policies and comments of ours")
  func created() async throws {
    let database = try await TestDatabase.withHostTables()
    let before = try await database.dumpSchema(["--no-comments"])
    try await database.apply(Repository.install)
    _ = try await makeRole(in: database, "select tacet.grant_service('$role')")
    try await database.apply(Self.uninstall)
    #expect(try await database.dumpSchema() == before)
  }

  @Test("what the host has built on schema tacet is named, and nothing is dropped")
  func used() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql("create view waiting as select count(*) from tacet.inbox")
    let before = try await database.dumpSchema()
    let error = await #expect(throws: (any Error).self) { try await database.apply(Self.uninstall) }
    #expect(error.map { String(reflecting: $0) }?.contains("these use schema tacet") == true)
    #expect(try await database.dumpSchema() == before)
  }

  private static let uninstall = Repository.file("db/uninstall.sql")
}
