import Testing

/// A database that migrations cannot be applied to, and what is said of it.
struct UnwiredHost: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let sql: String
  let flags: [String]
  let says: [String]

  init(_ name: String, _ sql: String, _ flags: [String] = [], says: String...) {
    testDescription = name
    self.sql = sql
    self.flags = flags
    self.says = says
  }

  private static let creating = ["--create-host-tables"]

  static let all = [
    UnwiredHost("no application", "select", says: "table public.messages is missing", "--create-host-tables"),
    UnwiredHost(
      "a view of another shape", "create view messages as select 1.5 as id", creating,
      says: "public.messages.id is numeric instead of uuid"),
    UnwiredHost(
      "users have ids of two types", tables.replacing("from_id uuid, id uuid", with: "from_id bigint, id uuid"),
      says: "public.messages.from_id is bigint instead of uuid", "Give the columns these types"),
    UnwiredHost(
      "ids of no type that ids may have, and nothing of ours is made beside them",
      "create table profiles (id numeric)", creating,
      says: "public.profiles.id is numeric instead of uuid", "Give the columns these types"),
    UnwiredHost(
      "a column of ours has another type", tables + "alter table conversation_participants add last_seen bigint;",
      says: "public.conversation_participants.last_seen is bigint instead of timestamp with time zone"),
    UnwiredHost(
      "all tables are published", tables + "create publication everything for all tables",
      says: "publication everything sends every table", "Run tacet migrate in each subscriber first"),
    UnwiredHost(
      "a schema tacet of the host's", tables + "create schema tacet; create table tacet.orders (id int);",
      says: "schema tacet is there already, and its orders was not made by Tacet"),
    UnwiredHost(
      "a table of migrations of the host's", tables + "create schema tacet; create table tacet.migrations (id int);",
      says: "its migrations was not made by Tacet"),
    UnwiredHost(
      "a large table without an index",
      tables + "update pg_class set reltuples = 100001 where oid = 'messages'::regclass;",
      says: "more than 100,000 rows",
      "create index concurrently messages_conversation_idx on public.messages (conversation_id, created_at desc);"),
    UnwiredHost(
      "a large table that was never analysed", tables + filled(rows: 1_300), says: "more than 100,000 rows",
      "create index concurrently messages_conversation_idx on public.messages (conversation_id, created_at desc);"),
    UnwiredHost(
      "a large table whose parts are each below the bound", partitioned, says: "more than 100,000 rows",
      "create index concurrently messages_conversation_idx_1_2 on archive.messages_old_1 (conversation_id, created_at desc);"
    ),
  ]

  /// The tables of an application that can be served.
  static let tables = """
    create table profiles (id uuid primary key, name text);
    create table conversations (id uuid primary key);
    create table conversation_participants (conversation_id uuid, user_id uuid);
    create table messages (
      conversation_id uuid, from_id uuid, id uuid primary key, text text, read_by uuid[] default '{}',
      created_at timestamptz default now(), updated_at timestamptz default now()
    );
    create table push_tokens (user_id uuid, device_token text, platform text default 'ios');
    """

  /// Messages of a page each; the preflight counts 81 rows for one.
  static func filled(rows: Int) -> String {
    """
    alter table messages set (autovacuum_enabled = false);
    alter table messages alter text set storage plain;
    insert into messages (id, text) select gen_random_uuid(), repeat('x', 7900) from generate_series(1, \(rows));
    """
  }

  /// Messages in partitions of partitions, of 120,000 rows in all.
  static let partitioned = """
    \(tables.replacing("id uuid primary key, text text", with: "id uuid, text text")
      .replacing("updated_at timestamptz default now()\n)", with: "updated_at timestamptz\n) partition by range (created_at)"))
    create schema archive;
    create table archive.messages_old partition of messages for values from (minvalue) to ('2026-01-01')
      partition by hash (id);
    create table archive.messages_old_0 partition of archive.messages_old for values with (modulus 2, remainder 0);
    create table archive.messages_old_1 partition of archive.messages_old for values with (modulus 2, remainder 1);
    create table messages_new partition of messages for values from ('2026-01-01') to (maxvalue);
    update pg_class set reltuples = 40000 where relname in ('messages_old_0', 'messages_old_1', 'messages_new');
    """
}
