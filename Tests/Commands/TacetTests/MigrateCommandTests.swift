import Foundation
import PushStore
import TestPostgres
import Testing

@Suite("tacet migrate")
struct MigrateCommandTests {
  @Test("says of every migration, and of the functions, that it was applied, and the second time that it was already")
  func twice() async throws {
    let settings = ["DATABASE_URL": try await TestPostgres.shared.makeDatabase()]
    for state in ["applied", "already applied"] {
      let run = try await CommandRun.tacet(["migrate", "--create-host-tables"], settings)
      #expect(run.exitCode == 0)
      #expect(run.lines == (Migration.all.map(\.name) + ["functions"]).map { "\($0): \(state)" })
    }
  }

  @Test("needs no other setting than the database's, but refuses those it does not know")
  func unknownSetting() async throws {
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": "host=/nowhere", "TACET_CONFIGURATION": "x"])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("TACET_CONFIGURATION"))
    #expect(run.output.contains("did you mean TACET_CONFIG"))
  }

  @Test("without a database's address names the setting")
  func missing() async throws {
    let run = try await CommandRun.tacet(["migrate"])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("DATABASE_URL"))
  }

  @Test("that cannot get in says why, and never with which password")
  func refused() async throws {
    let server = try await TestPostgres.shared
    let wrong = try await CommandRun.tacet(
      ["migrate"], ["DATABASE_URL": server.tcpConninfo(password: "hunter2-of-the-tests")])
    #expect(wrong.exitCode != 0)
    #expect(wrong.output.contains("28P01"))
    #expect(!wrong.output.contains("hunter2"))
    let absent = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": server.conninfo(database: "nowhere")])
    #expect(absent.exitCode != 0)
    #expect(absent.output.contains("3D000"))
  }

  @Test(
    "that understands no address shows nothing of it",
    arguments: ["postgresql://tacet:hunter2@[::1/app", "host=x pasword=hunter2", "hunter2"])
  func unusable(_ address: String) async throws {
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": address])
    #expect(run.exitCode != 0)
    #expect(!run.output.contains("hunter2"))
    #expect(!run.output.isEmpty)
  }

  @Test("says what the host has to do itself, as the migrations notice it")
  func notices() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(
      UnwiredHost.tables.replacing("name text", with: "title text") + "create publication few for table push_tokens",
      through: conninfo)
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": conninfo])
    #expect(run.exitCode == 0)
    #expect(
      run.output.contains("tacet migrate: notice: tacet: the host tables differ from the default"), "\(run.output)")
    #expect(run.output.contains("publication few sends public.push_tokens, which gets columns"), "\(run.output)")
    #expect(!run.output.contains("already exists, skipping"))
  }

  @Test("serves a host that keeps its tables elsewhere, creates none beside them, and says what to replace")
  func elsewhere() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql("create schema app; create table app.chat (id uuid primary key)", through: conninfo)
    let refused = try await CommandRun.tacet(["migrate", "--create-host-tables"], ["DATABASE_URL": conninfo])
    #expect(refused.exitCode != 0)
    #expect(refused.output.contains("Run tacet init first"), "\(refused.output)")
    #expect(try await server.psql("select to_regnamespace('tacet')", through: conninfo) == "\n")
    let run = try await CommandRun.tacet(
      ["migrate", "--create-host-tables"] + Self.uuids, ["DATABASE_URL": conninfo])
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("the database has tables of its own (app.chat), so no host table is created"))
    for name in ["message_context", "seen_by", "device_tokens", "invalidate_device_token"] {
      #expect(run.output.contains("replace tacet.\(name)"), "\(name)")
    }
    let tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'"
    #expect(try await server.psql(tables, through: conninfo) == "0\n")
  }

  @Test("takes the types of ids from the host's tables, or from options, and keeps them")
  func ids() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(
      """
      create table messages (id int primary key, conversation_id bigint, from_id varchar, created_at timestamptz);
      create table profiles (id text)
      """, through: conninfo)
    let settings = ["DATABASE_URL": conninfo]
    let run = try await CommandRun.tacet(["migrate"], settings)
    #expect(run.exitCode == 0, "\(run.output)")
    let types = """
      select 'tacet.message_context(bigint)'::regprocedure, 'tacet.seen_by(bigint)'::regprocedure,
        'tacet.device_tokens(text)'::regprocedure, pg_typeof(i.subject_id)
      from (select (null::tacet.inbox).subject_id) i
      """
    let expected = "tacet.message_context(bigint)|tacet.seen_by(bigint)|tacet.device_tokens(text)|text\n"
    #expect(try await server.psql(types, through: conninfo) == expected)
    #expect(try await CommandRun.tacet(["migrate", "--user-ids", "text"], settings).exitCode == 0)
    let script = try await CommandRun.tacet(["migrate", "--print", "--user-ids", "bigint"], [:])
    #expect(script.output.contains("create or replace function tacet.device_tokens(user_id bigint)"))
  }

  @Test("changes the types of ids while nothing was pushed, and not afterwards; a refusal leaves what was installed")
  func otherIDs() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql("create schema app; create table app.chat (id bigint primary key)", through: conninfo)
    let settings = ["DATABASE_URL": conninfo]
    func migrate(_ users: String) async throws -> CommandRun {
      try await CommandRun.tacet(
        ["migrate", "--message-ids", "bigint", "--conversation-ids", "text", "--user-ids", users], settings)
    }
    #expect(try await CommandRun.tacet(["migrate"] + Self.uuids, settings).exitCode == 0)
    try await server.psql(
      "create schema tacet_host; create table tacet_host.presence (user_id uuid)", through: conninfo)
    let changed = try await migrate("bigint")
    #expect(changed.exitCode == 0, "\(changed.output)")
    let types = """
      select to_regprocedure('tacet.message_context(bigint)') is not null, to_regprocedure('tacet.seen_by(text)') is not null,
        to_regprocedure('tacet.device_tokens(bigint)') is not null, to_regclass('tacet_host.presence') is null
      """
    #expect(try await server.psql(types, through: conninfo) == "t|t|t|t\n")
    #expect(try await migrate("bigint").output.contains("already applied"))
    try await server.psql("create publication everything for all tables", through: conninfo)
    #expect(try await migrate("text").output.contains("publication everything sends every table"))
    #expect(try await server.psql(types, through: conninfo) == "t|t|t|t\n")
    try await server.psql("drop publication everything", through: conninfo)
    try await server.psql(
      "insert into tacet.pushes (user_id, kind, title, body) values (1, 'note', 'x', 'y')", through: conninfo)
    let late = try await migrate("text")
    #expect(late.exitCode != 0)
    #expect(
      late.output.contains("are bigint, text and bigint, and cannot change them, because something was pushed"),
      "\(late.output)")
  }

  @Test("that meets a host it cannot serve says what to do, and creates nothing", arguments: UnwiredHost.all)
  func unwired(_ host: UnwiredHost) async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(host.sql, through: conninfo)
    let before = try await server.psql(Self.objects, through: conninfo)
    let run = try await CommandRun.tacet(["migrate"] + host.flags, ["DATABASE_URL": conninfo])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("tacet migrate: not wired: "))
    for part in host.says { #expect(run.output.contains(part), "\(run.output)") }
    #expect(try await server.psql(Self.objects, through: conninfo) == before)
  }

  @Test("refuses a database of another encoding before it makes anything")
  func encoding() async throws {
    let server = try await TestPostgres.shared
    let name = "latin_\(UUID().uuidString.prefix(8).lowercased())"
    try await server.psql("create database \(name) template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'")
    let conninfo = server.conninfo(database: name)
    let run = try await CommandRun.tacet(["migrate", "--create-host-tables"], ["DATABASE_URL": conninfo])
    #expect(run.exitCode != 0)
    #expect(
      run.output.contains("not wired: the encoding of the database is LATIN1, and Tacet needs UTF8"), "\(run.output)")
    #expect(try await server.psql("select to_regnamespace('tacet')", through: conninfo) == "\n")
    try await server.psql("create table messages (id int)", through: conninfo)
    let wiring = try await CommandRun.tacet(["init", "--mapping", "-", "--output", "-"], ["DATABASE_URL": conninfo])
    #expect(wiring.exitCode == 1)
    #expect(wiring.lines == ["tacet init: not wired: the encoding of the database is LATIN1, and Tacet needs UTF8"])
  }

  @Test("makes its tables beside a publication of all tables where the subscribers are said to have them")
  func published() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(UnwiredHost.tables + "create publication everything for all tables", through: conninfo)
    let database =
      "do $$ begin execute format('alter database %I set tacet.published = on', current_database()); end $$"
    try await server.psql(database, through: conninfo)
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": conninfo])
    #expect(run.exitCode == 0, "\(run.output)")
  }

  @Test("passes over tables of these names that lack the columns by which they are known, and says so")
  func others() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(
      """
      create table profiles (user_id uuid primary key); create table messages (subject text, mailbox int);
      create table push_tokens (subscription text); create table app (id uuid)
      """, through: conninfo)
    let run = try await CommandRun.tacet(["migrate"] + Self.uuids, ["DATABASE_URL": conninfo])
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("public.profiles has no column id, public.messages has no column id"), "\(run.output)")
    let made = """
      select count(*), (select count(*) from pg_trigger where tgname like 'tacet%') from pg_attribute
      where attrelid in ('profiles'::regclass, 'messages'::regclass, 'push_tokens'::regclass) and attnum > 0
      """
    #expect(try await server.psql(made, through: conninfo) == "4|0\n")
  }

  @Test("builds indexes itself where the lines are run, or the tables are small", arguments: [true, false])
  func mended(_ isPartitioned: Bool) async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    let host = isPartitioned ? UnwiredHost.partitioned : UnwiredHost.tables + UnwiredHost.filled(rows: 1_200)
    try await server.psql(host, through: conninfo)
    var run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": conninfo])
    let lines = run.lines.filter { $0.hasSuffix(";") }
    #expect(lines.count == (isPartitioned ? 9 : 0))
    for line in lines { try await server.psql(line, through: conninfo) }
    if isPartitioned { run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": conninfo]) }
    #expect(run.exitCode == 0, "\(run.output)")
    let indexes = """
      select count(*), bool_and(indisvalid) from pg_index where indexrelid::regclass::text ~ 'messages_conversation_idx'
      """
    #expect(try await server.psql(indexes, through: conninfo) == (isPartitioned ? "5|t\n" : "1|t\n"))
  }

  private static let uuids = ["--message-ids", "uuid", "--conversation-ids", "uuid", "--user-ids", "uuid"]

  private static let objects = """
    select oid::regclass::text from pg_class where relnamespace = 'public'::regnamespace
    union all select nspname from pg_namespace order by 1
    """
}
