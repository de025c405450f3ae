import Foundation
import Operations
import TestHosts
import TestIDs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@testable import tacet

@Suite("tacet init")
struct InitCommandTests {
  private let folder: String

  init() throws { folder = try makeTemporaryFolder("test-init") }

  private func database(_ tables: String) async throws -> [String: String] {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(tables, database: String(try #require(conninfo.split(separator: "=").last)))
    return ["DATABASE_URL": conninfo]
  }

  private func run(_ settings: [String: String], _ arguments: String...) async throws -> CommandRun {
    try await CommandRun.tacet(
      ["init", "--mapping", folder + "/tacet.host", "--output", folder + "/wiring.sql"] + arguments, settings)
  }

  @Test("writes a mapping and its SQL, names what to run, and overwrites no mapping and nothing of another's")
  func writes() async throws {
    let settings = try await database(HostSample.supabaseChat.tables)
    let (mapping, file) = (folder + "/tacet.host", folder + "/wiring.sql")
    let first = try await run(settings)
    #expect(first.exitCode == 0, "\(first.output)")
    #expect(first.output.contains("psql -X -v ON_ERROR_STOP=1 -f \(file)"))
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("create or replace function tacet.message_context(message_id uuid)"))
    let said = try String(contentsOfFile: mapping, encoding: .utf8)
    #expect(HostEdits.said(said) == HostSample.supabaseChat.mapping)
    let second = try await run(settings)
    #expect(second.exitCode == 1)
    #expect(second.output.contains("name another file, or read a mapping with --from"))
    // The mapping is what a person edits, and the SQL follows it.
    try said.replacing("text        content", with: "text        upper(content)")
      .write(toFile: mapping, atomically: true, encoding: .utf8)
    #expect(try await run(settings, "--from", mapping).exitCode == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("upper(content)"))
    try "mine".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await run(settings, "--from", mapping).exitCode == 1)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
  }

  @Test("what is uncertain is an error that shows the lines, and nothing is wired")
  func unsure() async throws {
    let settings = try await database(HostSample.slackClone.tables)
    let first = try await run(settings)
    #expect(first.exitCode == 1)
    #expect(first.output.contains("1 lines of"))
    #expect(first.output.contains("? members"))
    #expect(first.output.contains("every user of public.users gets every message (now about 0)"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/wiring.sql"))
  }

  @Test("a line that the database does not take is an error that names it, and the server's reason")
  func wrongLine() async throws {
    let settings = try await database(HostSample.supabaseChat.tables)
    let mapping = folder + "/mine.host"
    try "messages messages\nconversation room_id\nsender profile_id\ntext nothing\nmembers everyone\n"
      .write(toFile: mapping, atomically: true, encoding: .utf8)
    let wrong = try await run(settings, "--from", mapping)
    #expect(wrong.exitCode == 1)
    #expect(wrong.output.contains("line 4: column \"nothing\" does not exist"), "\(wrong.output)")
  }

  @Test("plays the newest messages through a mapping before anything is applied")
  func checked() async throws {
    let sample = HostSample.supabaseChat
    let people = sample.people.split(separator: ";").filter { !$0.contains("tacet.") }.joined(separator: ";")
    let settings = try await database(
      sample.tables + ";" + people + ";" + sample.message.replacing(" returning id", with: ""))
    let played = try await run(settings, "--check")
    #expect(played.exitCode == 0, "\(played.output)")
    #expect(played.output.contains(": ann: Hello"))
    #expect(played.output.contains("1 of 2 people would get it, 0 of them have a device"), "\(played.output)")
    #expect(played.output.contains("is the sender"))
    #expect(played.output.contains("warning: none of those who would get it has a device"))
    #expect(played.output.contains("read none: a push comes although the message was read elsewhere"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/wiring.sql"))
  }

  @Test("writes nothing for the tables of the default contract")
  func defaultTables() async throws {
    let settings = try await database(String(contentsOf: Repository.hostTables, encoding: .utf8))
    let none = try await run(settings)
    #expect(none.exitCode == 0, "\(none.output)")
    #expect(none.output.contains("Nothing is to be written"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/wiring.sql"))
  }

  @Test("a catalog that is too large is read in part, and it says so")
  func large() async throws {
    let settings = try await database(
      HostSample.supabaseChat.tables + """
        ;
        do $$
        begin
          for n in 1..51 loop
            execute format('create table wide_%s (%s)', n, (
              select string_agg(format('c%s int', c), ', ') from generate_series(1, 100) c));
          end loop;
        end
        $$
        """)
    let run = try await run(settings)
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("tacet init: 2 tables were not looked at"))
  }

  @Test("says that a database cannot be reached, without its password")
  func unreachable() async throws {
    let settings = ["DATABASE_URL": "host=127.0.0.1 port=1 user=nobody password=open-sesame"]
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(run.exitCode == 1)
    #expect(run.output.hasPrefix("tacet init: "))
    #expect(!run.output.contains("open-sesame"))
  }
}

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
