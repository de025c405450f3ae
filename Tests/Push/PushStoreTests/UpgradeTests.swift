import Foundation
import Postgres
import PushKinds
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import PushStore

/// Databases of version 19 and of version 26, the last one before the baseline; see ``TestDatabase/version(_:)``.
@Suite("Upgrades of earlier versions", .uuidsOnly)
struct UpgradeTests {
  /// Ends the example that the dumps watch, and what the tests have made.
  private static let withoutExtras = """
    select tacet.unwatch('request_claimed'); drop table requests, kept; drop function request_recipients
    """

  /// Writes each row of every table down, before an upgrade.
  private static let keep = """
    create table kept (relation regclass, content jsonb);
    do $$
    declare source regclass;
    begin
      for source in
        select c.oid from pg_class c
        where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'tacet'::regnamespace) and c.relname <> 'kept'
      loop
        execute format('insert into kept select $1, jsonb_strip_nulls(to_jsonb(t)) from %s t', source) using source;
      end loop;
    end $$
    """

  /// The rows that are not what they were, by table. Columns may have been added.
  private static let lost = """
    create temporary table lost (relation regclass);
    do $$
    declare source regclass;
    begin
      for source in select distinct k.relation from kept k loop
        execute format(
          'insert into lost select $1 from kept k
           where k.relation = $1 and not exists (select from %s t where to_jsonb(t) @> k.content)', source) using source;
      end loop;
    end $$;
    select relation, count(*) from lost group by 1
    """

  /// The tables that an early version made show it in the catalogs: one transaction made them and added the columns. A dump
  /// loses that.
  static let madeByOurs = """
    update pg_attribute set attname = attname
    where attnum > 0 and attrelid = any ('{profiles,conversations,conversation_participants,messages,push_tokens}'::regclass[])
    """

  @Test("keep every row, and arrive at the schema of a new installation", arguments: [19, 26], [true, false])
  func equal(_ version: Int, _ isByHand: Bool) async throws {
    let database = try await TestDatabase.version(version)
    try await database.sql(Self.keep)
    let tables = try await database.sql("select count(distinct relation) from kept")
    #expect(Int(tables) ?? 0 > 20)
    if version == 19 { try await database.sql(Self.madeByOurs) }
    if isByHand { try await database.apply(Repository.install) } else { try await database.migrate() }
    #expect(try await database.sql(Self.lost) == "")
    try await database.sql(Self.withoutExtras)
    let new = try await TestDatabase.empty()
    try await new.migrate()
    #expect(try await database.dumpSchema() == new.dumpSchema())
  }

  @Test("go on where they were: what waits is claimed", arguments: [19, 26])
  func claimable(_ version: Int) async throws {
    let database = try await TestDatabase.version(version)
    try await database.migrate()
    try await database.sql("update messages set created_at = now(); update tacet.inbox set available_at = now()")
    let events = try await claim(database)
    let id = HostID(text: "33333333-0000-4000-8000-000000000001")
    let waiting = try #require(events.first { $0.subject == .message(id) })
    #expect(waiting.recipients.first?.targets.map(\.address) == ["aa"])
  }

  @Test("leave the host's own functions alone, and install every other one", arguments: [19, 26])
  func hosts(_ version: Int) async throws {
    let database = try await TestDatabase.version(version)
    try await database.sql(
      """
      create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as 'select 7::bigint';
      create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid) returns boolean
        language sql stable as 'select true';
      """)
    try await database.migrate()
    try await database.apply(Repository.install)
    let answers = """
      select tacet.unread_count(gen_random_uuid()), tacet.may_view('x', gen_random_uuid(), gen_random_uuid())
      """
    #expect(try await database.sql(answers) == "7|t")
    let new = try await TestDatabase.migrated()
    let others = """
      select proname, md5(prosrc) from pg_proc
      where pronamespace = 'tacet'::regnamespace and proname not in ('unread_count', 'may_view') order by 1, 2
      """
    #expect(try await database.sql(others) == new.sql(others))
  }

  @Test("of a database before version 19 are refused with what to do, and change nothing")
  func tooOld() async throws {
    let database = try await TestDatabase.version(19)
    try await database.sql("delete from tacet.migrations where version in (18, 19)")
    let before = try await database.dumpSchema()
    let error = await #expect(throws: PostgresError.self) { try await database.migrate() }
    #expect(error?.sqlState == Migrator.notWired)
    #expect(error?.message.contains("not wired: the schema has version 17") == true)
    #expect(try await database.dumpSchema() == before)
  }

  @Test("give a role that may call the functions from before the new ones, and nobody else")
  func roles() async throws {
    let database = try await TestDatabase.version(19)
    let service = try await makeRole(in: database, "grant execute on all functions in schema tacet to $role")
    let stranger = try await makeRole(in: database, "grant usage on schema tacet to $role")
    try await database.migrate()
    let rights = [service, stranger].map {
      "has_function_privilege('\($0)', 'tacet.erase_users(int, int, interval)', 'execute')"
    }
    #expect(try await database.sql("select \(rights[0]), \(rights[1])") == "t|f")
  }

  @Test(
    "where the host keeps its tokens elsewhere or otherwise nothing is learnt, and nothing fails",
    arguments: [
      "alter table push_tokens rename to phones",
      """
      create type place as enum ('production', 'sandbox');
      alter table push_tokens alter column environment type place using environment::place
      """,
    ])
  func otherTokens(_ change: String) async throws {
    let database = try await TestDatabase.version(19)
    try await database.sql(change)
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("replace tacet.learn_token_environment"))
    #expect(try await database.sql("select tacet.learn_token_environment('aa', 'sandbox', null, null, now())") == "")
  }

  @Test("close the host's tables that version 19 made and left open, and leave all others", arguments: [true, false])
  func closed(_ isOurs: Bool) async throws {
    let database = try await TestDatabase.version(19)
    if isOurs { try await database.sql(Self.madeByOurs) }
    try await database.migrate()
    let open = """
      select count(*) from pg_class
      where relrowsecurity and obj_description(oid, 'pg_class') like 'Created by tacet%'
        and oid = any ('{profiles,conversations,conversation_participants,messages,push_tokens}'::regclass[])
      """
    #expect(try await database.sql(open) == (isOurs ? "5" : "0"))
  }

  @Test("what an older service leaves afterwards for a lane of an old name is tried as well")
  func olderService() async throws {
    let database = try await TestDatabase.migrated()
    try await database.sql(
      """
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, lane)
      select now(), now(), gen_random_uuid(), gen_random_uuid(), v.kind, 'waiting', v.lane
      from (values ('old', 'production'), ('route', 'com.example.app/production')) as v (kind, lane)
      """)
    try await withSessions(database, 1) { sessions, reactor in
      let hour: Int64 = 3_600_000_000
      let rows = try await sessions[0].connection.query(PushStatements.releaseExpired, [hour, Int64(10)], on: reactor)
      #expect(try rows.one().decode(0) as Int64 == 1)
    }
    #expect(try await database.sql("select kind from tacet.deliveries where state = 'waiting'") == "route")
  }
}
