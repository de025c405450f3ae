import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
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

@Suite("Functions with their owner's rights", .uuidsOnly)
struct DefinerTests {
  /// Each of them, how many texts of SQL it makes, and where their identifiers come from.
  private static let judged: [String: (texts: Int, identifiers: String)] = [
    "announce_decisions": (0, "none"),
    "database_identity": (0, "none"),
    "enqueue_inserted_messages": (0, "none; net.http_post only as a member of pg_net"),
    "enqueue_watched": (1, "tacet.kinds, which the owner writes"),
    "erase_users": (3, "the catalog: tables of tacet, and those with forget_deleted_profiles or auth.users"),
    "follow_changed_rows": (
      0, "by tacet.follow_row: tacet.watched_activities, which the owner writes; types of rows only look it up"
    ),
    "follow_rows": (3, "tacet.watched_activities, which the owner writes"),
    "forget_deleted_profiles": (0, "none"),
    "forget_user": (0, "none"),
    "has_account": (0, "none; auth.users, if tacet.table_of_users knows it"),
    "note_activity": (0, "none"),
    "note_gone_users": (2, "none; auth.users and public.profiles, if tacet.table_of_users knows them"),
    "release_concerned": (0, "none"),
    "release_unwatched": (1, "tacet.kinds, which the owner writes"),
    "space_live_activity": (0, "none"),
    "tend_live_activities": (0, "as follow_changed_rows"),
    "uses_accounts": (0, "none; auth.users and public.profiles, if tacet.table_of_users knows them"),
  ]

  @Test("are those that somebody has judged, with a pinned search path, and no stranger's to call")
  func judgements() async throws {
    let database = try await TestDatabase.migrated()
    let rows = try await database.sql(
      """
      select
        p.proname, (select count(*) from regexp_matches(p.prosrc, '\\mexecute\\s+(format|'')', 'g')), p.proconfig @> '{"search_path=pg_catalog, pg_temp"}',
        exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee <> p.proowner)
      from pg_proc p
      where p.pronamespace = 'tacet'::regnamespace and p.prosecdef
      order by 1
      """)
    let expected = Self.judged.sorted { $0.key < $1.key }.map { "\($0.key)|\($0.value.texts)|t|f" }
    #expect(rows.split(separator: "\n").map(String.init) == expected)
  }

  @Test("and triggers pin the search path, for they run in sessions of others")
  func searchPaths() async throws {
    let database = try await TestDatabase.migrated()
    let unpinned = try await database.sql(
      """
      select p.proname from pg_proc p
      where p.pronamespace = 'tacet'::regnamespace
        and (p.prosecdef or p.prorettype in ('trigger'::regtype, 'event_trigger'::regtype))
        and (p.proconfig @> '{"search_path=pg_catalog, pg_temp"}') is not true
      """)
    #expect(unpinned == "")
  }

  @Test("read no name that the service's role may write")
  func names() async throws {
    let database = try await TestDatabase.migrated()
    let role = try await makeRole(in: database, "select tacet.grant_service('$role')")
    let writable = try await database.sql(
      """
      select a.attrelid::regclass || '.' || a.attname
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid and c.relnamespace = 'tacet'::regnamespace and c.relkind in ('r', 'p')
      join pg_type t on t.oid = a.atttypid and t.typnamespace = 'pg_catalog'::regnamespace
      where a.attnum > 0 and not a.attisdropped and (t.typname like 'reg%' or t.typname in ('name', 'oid'))
        and (has_column_privilege('\(role)', c.oid, a.attnum, 'insert')
          or has_column_privilege('\(role)', c.oid, a.attnum, 'update'))
      """)
    #expect(writable == "")
  }

  /// A view of another role that writes down for whom it runs, in place of a table of users.
  private static func trap(_ view: String, of role: String) -> String {
    """
    create table public.trapped (who text); grant all on public.trapped to public;
    grant all on schema \(view.prefix { $0 != "." }), public to \(role);
    set role \(role);
    create function public.trap() returns uuid language plpgsql as
      $$ begin insert into public.trapped values (current_user); return null; end $$;
    create view \(view) as select public.trap() as id from generate_series(1, 3);
    grant select on \(view) to public;
    reset role;
    """
  }

  @Test("erase users without looking into a view that a row names")
  func erasures() async throws {
    let database = try await TestDatabase.migrated()
    let role = try await makeRole(in: database, "grant usage on schema public to $role")
    try await database.sql(Self.trap("public.users_of_mine", of: role))
    try await database.sql(
      "insert into tacet.erasures (user_id, source) values (gen_random_uuid(), 'public.users_of_mine')")
    _ = try await erase(database)
    #expect(try await database.sql("select count(*) from public.trapped") == "0")
    try await ServiceRoleTests.refused(
      [
        "insert into tacet.erasures (user_id) values (gen_random_uuid())",
        "update tacet.erasures set source = 'pg_class'",
      ], in: try await ServiceRoleTests.database(.after))
  }

  @Test("look for accounts in tables alone", arguments: ["auth.users", "public.profiles"])
  func accounts(_ view: String) async throws {
    let database = try await TestDatabase.migrated()
    let role = try await makeRole(in: database, "grant usage on schema public to $role")
    try await database.sql(
      """
      create schema auth; create table auth.users (id uuid primary key); insert into auth.users values (gen_random_uuid());
      drop table \(view) cascade; \(Self.trap(view, of: role))
      """)
    let answers = try await database.sql(
      """
      insert into tacet.preferences (user_id) values (gen_random_uuid());
      select tacet.has_account(gen_random_uuid()), tacet.uses_accounts(), tacet.note_gone_users(null, 10) is null
      """)
    #expect(answers == (view == "auth.users" ? "t|f|t" : "f|f|t"))
    #expect(try await database.sql("select count(*) from public.trapped") == "0")
  }
}
