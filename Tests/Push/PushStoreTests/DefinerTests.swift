import TestIDs
import Testing

@testable import PushStore

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
