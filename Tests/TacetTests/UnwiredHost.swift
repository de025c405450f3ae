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
      "one table is missing", tables.replacing("create table profiles (id uuid primary key, name text);", with: ""),
      says: "table public.profiles is missing"),
    UnwiredHost("a view", "create view messages as select 1 as id", creating, says: "public.messages is not a table"),
    UnwiredHost(
      "message ids are numbers", tables.replacing("from_id uuid, id uuid", with: "from_id uuid, id bigint"),
      says: "public.messages.id is bigint instead of uuid", "Give the columns these types"),
    UnwiredHost(
      "user ids are texts, and nothing of ours is made beside them", "create table profiles (id text)", creating,
      says: "public.conversation_participants cannot be created", "type uuid"),
    UnwiredHost(
      "a column of ours has another type", tables + "alter table conversation_participants add last_seen bigint;",
      says: "public.conversation_participants.last_seen is bigint instead of timestamp with time zone"),
    UnwiredHost(
      "a large table without an index",
      tables + "update pg_class set reltuples = 1000001 where oid = 'messages'::regclass;",
      says: "more than a million rows",
      "create index concurrently messages_conversation_idx on public.messages (conversation_id, created_at desc);"),
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
}
