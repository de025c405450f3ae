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

  @Test("writes a file that is readable, names what to run, and overwrites nothing")
  func writes() async throws {
    let settings = try await database(HostSample.supabaseChat.tables)
    let file = folder + "/wiring.sql"
    let first = try await CommandRun.tacet(["init", "--output", file], settings)
    #expect(first.exitCode == 0, "\(first.output)")
    for line in HostSample.supabaseChat.summary { #expect(first.lines.contains(line)) }
    #expect(first.output.contains("psql -X -v ON_ERROR_STOP=1 -f \(file)"))
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("create or replace function tacet.message_context(message_id uuid)"))
    let second = try await CommandRun.tacet(["init", "--output", file], settings)
    #expect(second.exitCode == 1)
    #expect(second.output.contains("--output names another file"))
    let printed = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(printed.output == text)
  }

  @Test("without a terminal an open question is an error that names the option and the choices")
  func unanswered() async throws {
    let settings = try await database(HostSample.slackClone.tables)
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(run.exitCode == 1)
    #expect(run.output.contains("Which table says who takes part"))
    #expect(run.output.contains("With everyone, every user of public.users gets every message (now about 0 users)."))
    #expect(run.output.contains("--participants: everyone"))
    let wrong = try await CommandRun.tacet(["init", "--output", "-", "--participants", "nothing"], settings)
    #expect(wrong.exitCode == 1)
    #expect(wrong.output.contains("--participants nothing: there is no such table."))
  }

  @Test("writes nothing for the tables of the default contract")
  func defaultTables() async throws {
    let settings = try await database(String(contentsOf: Repository.hostTables, encoding: .utf8))
    let run = try await CommandRun.tacet(["init", "--output", folder + "/none.sql"], settings)
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("Nothing is to be written"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/none.sql"))
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
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
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

@Suite("A question on a terminal")
struct TerminalQuestionTests {
  private static let listed = WiringQuestion(
    subject: .devices, text: "Which column?", choices: ["public.sessions.device_id", "own"])
  private static let open = WiringQuestion(subject: .messageKinds, text: "Which values?", choices: ["all"])

  private func answer(_ question: WiringQuestion, _ lines: String..., isTerminal: Bool = true) throws -> String {
    var left = lines
    let asked = TerminalQuestion(
      question, isTerminal: isTerminal, readLine: { left.isEmpty ? nil : left.removeFirst() }, tell: { _ in })
    return try asked.ask()
  }

  @Test("takes a number of its list or a name")
  func list() throws {
    #expect(try answer(Self.listed, "2") == "own")
    #expect(try answer(Self.listed, " 1 ") == "public.sessions.device_id")
    #expect(try answer(Self.listed, "public.phones.token") == "public.phones.token")
    #expect(try answer(Self.listed, "", "3", "1") == "public.sessions.device_id")
  }

  @Test("without a list takes what is written, or its first choice")
  func written() throws {
    #expect(try answer(Self.open, " 0, 1 ") == "0, 1")
    #expect(try answer(Self.open, "") == "all")
  }

  @Test("gives up at the end of the input, after three tries, and without a terminal")
  func givesUp() {
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed) }
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed, "0", "-1", "9", "1") }
    #expect(throws: UnansweredQuestion.self) { try answer(Self.listed, "1", isTerminal: false) }
    #expect(UnansweredQuestion(question: Self.listed).description.contains("--devices: public.sessions.device_id, own"))
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
