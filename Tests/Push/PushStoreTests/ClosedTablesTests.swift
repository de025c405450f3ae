import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

/// A server with the roles and default privileges that Supabase has.
@Suite("Tables that strangers cannot use", .uuidsOnly)
struct ClosedTablesTests {
  private static let supabase = """
    create role anon; create role authenticated; create role service_role bypassrls;
    create schema auth; grant usage on schema auth to anon, authenticated, service_role;
    create function auth.uid() returns uuid language sql stable
      as $$ select nullif(current_setting('request.uid', true), '')::uuid $$;
    grant usage on schema public to anon, authenticated, service_role;
    alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
    """

  private static let user = "11111111-0000-4000-8000-000000000001"
  private static let other = "11111111-0000-4000-8000-000000000002"

  private static let rows = """
    insert into profiles (id) values ('\(user)'), ('\(other)');
    insert into push_tokens (user_id, device_token) values ('\(user)', 'aa');
    insert into push_log (user_id, push_type, decision) values ('\(user)', 'message', 'sent'), ('\(other)', 'message', 'sent');
    """

  private static let attacks = [
    "select * from push_tokens", "insert into push_tokens (user_id, device_token) values ('\(user)', 'bb')",
    "delete from push_tokens", "update push_tokens set user_id = '\(other)'", "truncate push_tokens",
    "update conversation_participants set last_seen = now()", "select text from messages", "select * from profiles",
    "truncate push_log", "delete from push_log", "update push_log set opened = true",
    "insert into push_log (user_id, push_type, decision) values ('\(user)', 'message', 'sent')",
    "select * from tacet.push_log", "select * from tacet.inbox", "select webhook_secret from tacet.settings",
    "select tacet.adopt_database(false)",
  ]

  /// A server whose default database is installed on what a script or a file makes.
  private func makeServer(_ tables: String) async throws -> TestPostgres {
    let server = try await TestPostgres.launch()
    try await server.psql(Self.supabase)
    try await server.psql(tables)
    try await server.psql("\\i '\(Repository.install.path)'")
    try await server.psql(Self.rows)
    return server
  }

  private func refuse(_ server: TestPostgres) async throws {
    for role in ["anon", "authenticated"] {
      for attack in Self.attacks {
        await #expect(throws: (any Error).self, "\(role): \(attack)") {
          try await server.psql("set request.uid = '\(Self.user)'; set role \(role); \(attack)")
        }
      }
    }
    let own = "set request.uid = '\(Self.user)'; set role authenticated; select user_id from push_log"
    #expect(try await server.psql(own).trimmingCharacters(in: .whitespacesAndNewlines) == Self.user)
    #expect(try await server.psql("set role service_role; select count(*) from push_tokens").contains("1"))
  }

  @Test("on Supabase neither visitors nor users reach more than their own rows of the ledger")
  func attacks() async throws {
    let server = try await makeServer("\\i '\(Repository.hostTables.path)'")
    try await refuse(server)
    #expect(try await server.psql("set role service_role; select count(*) from push_log").contains("2"))
  }

  @Test("a table that the application has made is left alone, and the doctor says who reaches tokens there")
  func hosts() async throws {
    let tables = try String(contentsOf: Repository.hostTables, encoding: .utf8)
      .replacing("enable row level security", with: "disable row level security")
      .replacing("'anon', 'authenticated'", with: "'nobody'")
      .replacing("Created by tacet migrate --create-host-tables.", with: "")
    let server = try await makeServer(tables)
    func access(_ change: String) async throws -> [String] {
      try await server.psql(change)
      return try await server.psql(PushStatements.examineTokenAccess.sql).split(separator: "\n").map(String.init)
    }
    let all = "select, insert, update, delete, truncate, trigger"
    #expect(try await access("select") == ["anon|\(all)", "authenticated|\(all)"])
    let closed = "alter table push_tokens enable row level security"
    #expect(try await access(closed) == ["anon|truncate, trigger", "authenticated|truncate, trigger"])
    #expect(try await access("revoke truncate, trigger on push_tokens from anon, authenticated") == [])
    let own = "create policy own on push_tokens to authenticated using (user_id = auth.uid())"
    #expect(try await access(own) == [])
    let read = "create policy read on push_tokens for select using (true)"
    #expect(try await access(read) == ["anon|select", "authenticated|select"])
    let column =
      "drop policy read on push_tokens; alter table push_tokens disable row level security; "
      + "revoke all on push_tokens from anon, authenticated; grant select (device_token) on push_tokens to anon"
    #expect(try await access(column) == ["anon|select"])
  }

  @Test("every table can be updated while all tables are published")
  func published() async throws {
    let database = try await TestDatabase.migrated()
    let lacking = """
      select c.oid::regclass from pg_class c
      where c.relnamespace = 'tacet'::regnamespace and c.relkind = 'r' and c.relreplident <> 'f'
        and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
      """
    #expect(try await database.sql(lacking) == "")
  }

  @Test("files that are applied again by hand keep the newer defaults")
  func again() async throws {
    let database = try await TestDatabase.migrated()
    let bodies = """
      select proname, md5(prosrc) from pg_proc where oid::regprocedure::text in
        ('tacet.unread_count(uuid)', 'tacet.message_context(uuid)', 'tacet.device_tokens(uuid)') order by 1
      """
    let before = try await database.sql(bodies)
    try await database.sql(IDTypes.tested.written(into: try Repository.text("db/functions/contract_messages.sql")))
    #expect(try await database.sql(bodies) == before)
  }

  @Test(
    "files that are applied again by hand keep the host's own answer",
    arguments: [false, true])
  func againHosts(_ isAll: Bool) async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
      language sql stable as 'select true'
      """)
    if isAll {
      try await database.apply(Repository.install)
    } else {
      try await database.sql(IDTypes.tested.written(into: try Repository.text("db/functions/contract_presence.sql")))
    }
    #expect(try await database.sql("select tacet.may_view('x', gen_random_uuid(), gen_random_uuid())") == "t")
  }
}
