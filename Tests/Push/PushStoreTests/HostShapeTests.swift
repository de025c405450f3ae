import Foundation
import Postgres
import PushRules
import Synchronization
import TestIDs
import TestReactors
import TestRepository
import Testing

@testable import PushStore

@Suite("Hosts of other shapes", .uuidsOnly)
struct HostShapeTests {
  /// The default tables, and one statement that changes their shape.
  private static let tables = """
    create table profiles (id uuid primary key, name text);
    create table conversations (id uuid primary key);
    create table conversation_participants (conversation_id uuid, user_id uuid);
    create table messages (
      conversation_id uuid, from_id uuid, id uuid primary key, text text, read_by uuid[] default '{}',
      created_at timestamptz default now(), updated_at timestamptz default now()
    );
    create table push_tokens (user_id uuid, device_token text, platform text default 'ios');
    """

  private static func asView(_ table: String) -> String {
    "create schema app; alter table \(table) set schema app; create view \(table) as select * from app.\(table)"
  }

  @Test(
    "a view under a name of ours serves, and its trigger and columns are left to the host",
    arguments: ["profiles", "conversations", "conversation_participants"])
  func view(_ table: String) async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.tables + Self.asView(table))
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("public.\(table) is no table"))
    let chat = try await Chat(in: database)
    try await chat.register("aa")
    let message = try await chat.send()
    let events = try await claim(database)
    #expect(events.map(\.subject) == [.message(message)])
    #expect(events.first?.message?.senderName == "Ada")
    #expect(events.first?.recipients.first?.targets.map(\.address) == ["aa"])
    #expect(try await database.sql("select count(*) from tacet.host_additions where relation = '\(table)'") == "0")
    #expect(try await failures(database) == "0")
    try await database.apply(Repository.install)
    try await database.apply(Repository.file("db/uninstall.sql"))
  }

  @Test("a view of participants with last_seen and tacet_left_at has presence")
  func presentView() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      Self.tables + "alter table conversation_participants add last_seen timestamptz, add tacet_left_at timestamptz;"
        + Self.asView("conversation_participants"))
    try await database.migrate()
    let chat = try await Chat(in: database)
    let view = SurfaceView(of: .conversation(chat.id), by: chat.reader)
    let report = [view: PresenceReport(.looking)]
    #expect(try await withStore(database) { try await $0.note(report, on: $1)[view] } == .viewer)
    try await chat.send()
    #expect(try await claim(database).first?.recipients.first?.situation.lastSeenAge != nil)
  }

  @Test(
    "tables of ours are created in an empty database, all of them; beside others not one", arguments: [true, false])
  func created(_ isEmpty: Bool) async throws {
    let database = try await TestDatabase.empty()
    if !isEmpty { try await database.sql("create schema app; create table app.messages (id uuid primary key)") }
    try await database.sql("create schema auth; create table auth.users (id uuid)")
    try await database.migrate()
    let tables = try await database.sql(ContractPageTests.publicTables).split(separator: "\n")
    #expect(tables.count == (isEmpty ? 5 : 0))
  }

  @Test("a host that lacks some of our tables keeps those it has, and says which are missing")
  func some() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.tables + "drop table profiles, conversations")
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("the host has no public.profiles, public.conversations;"))
    #expect(try await database.sql("select count(*) from pg_trigger where tgname like 'tacet_%'") == "5")
    let message = HostID.new()
    try await database.sql(
      """
      insert into conversation_participants values ('\(HostID.new())', '\(HostID.new())');
      insert into messages (id, conversation_id, text) select '\(message)', conversation_id, 'Hi' from conversation_participants
      """)
    let events = try await claim(database)
    #expect(events.map(\.subject) == [.message(message)])
    #expect(events.first?.message?.senderName == nil)
    #expect(events.first?.recipients.count == 1)
  }

  @Test("a role that may create nothing in schema public migrates, and is told the lines for the view of the ledger")
  func withoutRights() async throws {
    var database = try await TestDatabase.empty()
    try await database.sql(Self.tables + "revoke create on schema public from public, pg_database_owner")
    let role = try await makeRole(
      in: database,
      """
      do $do$ declare t text; begin
        for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
          execute format('alter table %I owner to $role', t);
        end loop;
      end $do$;
      create schema tacet authorization $role
      """)
    database.role = role
    let limited = database
    let notices = try await limited.noticesOfMigrating()
    #expect(notices.contains { $0.contains("these indexes are missing") && $0.contains("messages_conversation_idx") })
    let notice = try #require(notices.first { $0.contains("there is no view public.push_log") })
    let lines = notice.split(separator: "\n").drop { !$0.hasPrefix("create view") }
    try await database.sql(lines.joined(separator: "\n"))
    #expect(try await database.sql("set role \(role); select count(*) from push_log") == "0")
    let whole = try await TestDatabase.empty()
    try await whole.sql(Self.tables)
    try await whole.migrate()
    let options = ["-t", "*.push_log", "--no-owner", "--no-privileges"]
    #expect(try await database.dumpSchema(options) == whole.dumpSchema(options))
    let chat = try await Chat(in: database)
    let message = try await chat.send()
    #expect(try await claim(database).map(\.subject) == [.message(message)])
  }

  @Test("messages found by a key of more than the id are refused, unless the id is unique")
  func keys() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(
      Self.tables + "alter table messages add tenant int, drop constraint messages_pkey, add primary key (tenant, id)")
    let error = await #expect(throws: PostgresError.self) { try await database.migrate() }
    #expect(error?.sqlState == Migrator.notWired)
    #expect(
      error?.message.contains("ids of public.messages may repeat, because its primary key is (tenant, id)") == true)
    try await database.sql("create unique index on messages (id)")
    try await database.migrate()
  }

  private static let partitioned = """
    alter table messages rename to plain;
    create table messages (like plain including defaults, primary key (id, created_at)) partition by range (created_at);
    drop table plain;
    create table messages_old partition of messages for values from (minvalue) to (now() - interval '10 days');
    create table messages_new partition of messages for values from (now() - interval '10 days') to (maxvalue);
    """

  @Test("partitioned messages are claimed, of any age, and an insert into a partition needs a trigger there")
  func partitions() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.tables + Self.partitioned)
    try await database.migrate()
    let chat = try await Chat(in: database)
    let new = try await chat.send()
    let old = try await chat.send("'old'", ["created_at": "now() - interval '20 days'"])
    let known = "select count(*) from unnest(array['\(new)', '\(old)']::uuid[]) i, tacet.message_context(i)"
    #expect(try await database.sql(known) == "2")
    #expect(try await database.sql("select count(*) from tacet.inbox") == "2")
    let direct = chat.insertion(of: HostID.new()).replacing("public.messages", with: "public.messages_new")
    try await database.sql(direct)
    #expect(try await database.sql("select count(*) from tacet.inbox") == "2")
    try await database.sql(
      """
      create trigger tacet_message_inserted after insert on messages_new referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages()
      """)
    try await database.sql(chat.insertion(of: HostID.new()).replacing("public.messages", with: "public.messages_new"))
    try await chat.send()
    #expect(try await database.sql("select count(*) from tacet.inbox") == "4")
  }
}

extension TestDatabase {
  /// Migrates as `tacet migrate` does, and returns what it says.
  func noticesOfMigrating() async throws -> [String] {
    var configuration = configuration
    configuration.connectLimit = patience
    let notices = Notices()
    let log = quiet
    try await onReactor { [configuration] reactor in
      try await Migrator.run(
        Migration.all, in: configuration, createsHostTables: false, logger: log, on: reactor,
        notice: { text in notices.all.withLock { $0.append(text) } }
      ) { _, _ in }
    }
    return notices.all.withLock { $0 }
  }
}

private final class Notices: Sendable {
  let all = Mutex<[String]>([])
}
