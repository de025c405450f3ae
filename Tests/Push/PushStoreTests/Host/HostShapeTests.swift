import Foundation
import Postgres
import PushRules
import Reactors
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

@Suite("Host tables that are there already", .uuidsOnly)
struct HostTablesTests {
  /// Further columns and another order than ours.
  private static let otherShape = """
    create table profiles (avatar text not null default 'none', name text, id uuid primary key);
    create table conversations (title text, id uuid primary key default gen_random_uuid());
    create table conversation_participants (
      role text not null default 'member', last_seen timestamptz, user_id uuid, conversation_id uuid
    );
    create table messages (
      reactions jsonb, read_by uuid[] not null default '{}', text text, updated_at timestamptz not null default now(),
      from_id uuid, created_at timestamptz not null default now(), conversation_id uuid, id uuid primary key,
      edited boolean not null default false
    );
    create table push_tokens (
      locale text, platform text not null default 'ios', device_token text, id bigserial, user_id uuid
    );
    insert into profiles (id, name) values ('00000000-0000-0000-0000-000000000001', 'Old');
    insert into messages (id, text, from_id)
    values ('00000000-0000-0000-0000-000000000002', 'old', '00000000-0000-0000-0000-000000000001')
    """

  @Test("columns and rows stay as they are, and ours are added at the end")
  func untouched() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.otherShape)
    let before = try await columns(database)
    try await database.apply(Repository.install)
    let after = try await columns(database)
    #expect(after["messages"] == before["messages"])
    #expect(after["profiles"] == before["profiles"])
    #expect(after["conversations"] == before["conversations"])
    let participants = (before["conversation_participants"] ?? []) + ["tacet_left_at timestamptz"]
    #expect(after["conversation_participants"] == participants)
    #expect(after["push_tokens"]?.starts(with: before["push_tokens"] ?? ["?"]) == true)
    #expect(try await database.sql("select text from messages") == "old")
    #expect(try await database.sql("select count(*) from tacet.inbox") == "0")
  }

  @Test("a claim reads tables of another shape")
  func claimable() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql(Self.otherShape)
    try await database.apply(Repository.install)
    let chat = try await Chat(in: database)
    try await chat.register("aa")
    let message = try await chat.send()
    let events = try await claim(database)
    #expect(events.map(\.subject) == [.message(message)])
    #expect(events.first?.message?.senderName == "Ada")
    #expect(events.first?.recipients.first?.targets == [PushTarget(address: "aa", environment: nil)])
  }

  @Test(
    "tables that lack a column are told of in a notice, and messages are inserted",
    arguments: [
      ("messages", "read_by"), ("messages", "text"), ("messages", "created_at"), ("messages", "updated_at"),
      ("profiles", "name"), ("push_tokens", "platform"),
    ])
  func lacking(_ table: String, _ column: String) async throws {
    let database = try await TestDatabase.empty()
    try await database.sql("\(Self.otherShape); alter table \(table) drop column \(column)")
    let notices = try await database.apply(Repository.install)
    #expect(notices.contains("NOTICE:  tacet: the host tables differ"))
    try await database.sql("insert into messages (id) values (gen_random_uuid())")
    #expect(try await database.sql("select count(*) from messages") == "2")
    #expect(try await database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await failures(database) == "0")
  }

  @Test("a left_at that was there says that a member has left: no push, no look, no badge, and Tacet never writes it")
  func members() async throws {
    let database = try await TestDatabase.withHostTables()
    try await database.sql("alter table conversation_participants add left_at timestamptz")
    try await database.migrate()
    let chat = try await Chat(readers: 2, in: database)
    for reader in chat.readers { try await chat.register("a\(reader)", of: reader) }
    let former = chat.readers[1]
    try await database.sql("update conversation_participants set left_at = now() where user_id = '\(former)'")
    try await chat.send()
    #expect(try await claim(database).flatMap(\.recipients).map(\.userID) == [chat.reader])
    let left = "select user_id, left_at from conversation_participants where left_at is not null"
    let before = try await database.sql(left)
    let views = chat.readers.map { SurfaceView(of: .conversation(chat.id), by: $0) }
    for sign in [PresenceSign.looking, .left] {
      let reports = Dictionary(uniqueKeysWithValues: views.map { ($0, PresenceReport(sign)) })
      let standings = try await withStore(database) { try await $0.note(reports, on: $1) }
      #expect(standings == [views[0]: .viewer, views[1]: .stranger])
    }
    #expect(try await chat.presence(of: chat.reader) == "seen, left")
    #expect(try await chat.presence(of: former) == "")
    #expect(try await database.sql(left) == before)
    let badges = "select tacet.unread_count('\(former)'), tacet.unread_count('\(chat.reader)')"
    #expect(try await database.sql(badges) == "0|1")
    try await database.apply(Repository.file("db/uninstall.sql"))
    #expect(try await database.sql(left) == before)
  }

  @Test("an index whose name the host has given to something else gets another name, and leaves with Tacet")
  func takenNames() async throws {
    let database = try await TestDatabase.empty()
    try await database.sql("\(Self.otherShape); create table push_tokens_user_idx (id int)")
    try await database.migrate()
    let indexes = "select count(*) from pg_index where indrelid = 'push_tokens'::regclass"
    #expect(try await database.sql("select tacet.has_index('push_tokens', 'user_id', 'invalidated_at IS NULL')") == "t")
    #expect(try await database.sql(indexes) == "3")
    try await database.apply(Repository.file("db/uninstall.sql"))
    #expect(
      try await database.sql("\(indexes); select to_regclass('push_tokens_user_idx')") == "0\npush_tokens_user_idx")
  }

  @Test(
    "messages that are dated without a time zone are as old as their insert, in every zone, and imported ones stay old",
    arguments: ["UTC", "America/Los_Angeles", "Asia/Tokyo", "Etc/GMT+12"])
  func unzoned(_ zone: String) async throws {
    let database = try await TestDatabase.withHostTables()
    try await database.sql(
      """
      alter table messages alter created_at type timestamp, alter updated_at type timestamp,
        alter created_at set default now(), alter updated_at set default now()
      """)
    try await database.migrate()
    try await database.sql("alter database \(database.name) set timezone = '\(zone)'")
    let chat = try await Chat(in: database)
    try await chat.register("aa")
    let other = try await chat.send()
    try await database.sql("update messages set read_by = array['\(chat.reader)'::uuid] where id = '\(other)'")
    try await database.sql("delete from tacet.inbox")
    let new = try await chat.send()
    let old = try await chat.send("'old'", ["created_at": "now() - interval '3 days'"])
    let events = try await claim(database)
    #expect(Set(events.map(\.subject)) == [.message(new), .message(old)])
    for event in events {
      let situation = try #require(event.recipients.first).situation
      #expect(situation.messageAge >= .zero)
      #expect((situation.messageAge > .seconds(86_400)) == (event.subject == .message(old)))
      // What was edited hours ago, or in hours, is no sign of presence.
      #expect(situation.newestOtherReadAge == nil)
    }
    try await withStore(database) { try await $0.moveUnreadMarks(of: [chat.reader], on: $1) }
    #expect(try await database.sql("select tacet.unread_count('\(chat.reader)')") == "2")
  }

  private func columns(_ database: TestDatabase) async throws -> [String: [String]] {
    let rows = try await database.sql(
      """
      select table_name, column_name, udt_name from information_schema.columns
      where table_schema = 'public' order by table_name, ordinal_position
      """)
    return rows.split(separator: "\n").map { $0.split(separator: "|") }.reduce(into: [:]) { columns, row in
      columns[String(row[0]), default: []].append("\(row[1]) \(row[2])")
    }
  }
}

@Suite("The host's statements and the service's locks")
struct HostFirstTests {
  /// Far above the 50 ms that a trigger waits for a lock, and far below what a waiting host would take here: forever.
  private static let bound = Duration.seconds(10)

  @Test("news does not wait for a hold that the service has locked", arguments: News.allCases)
  func lockedRow(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, scene.sql(news), by: "select from tacet.deliveries for update")
    #expect(try await scene.chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test("news waits briefly for a queue that somebody has locked, and is counted", arguments: News.allCases)
  func lockedTable(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, scene.sql(news), by: "lock table tacet.deliveries in access exclusive mode")
    #expect(try await scene.chat.database.sql("select sqlstate from tacet.trigger_failures") == "55P03")
  }

  @Test(
    "a user can be deleted while the service has their rows locked",
    arguments: ["select from tacet.deliveries for update", "select from tacet.push_log for update"])
  func deletedUser(_ lock: String) async throws {
    let scene = try await HeldScene.held()
    try await expectUnhindered(scene, "delete from public.profiles where id = '\(scene.chat.reader)'", by: lock)
    #expect(try await scene.chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }

  @Test("the service records what a host's open transaction has deleted or changed", arguments: News.allCases)
  func recordedMeanwhile(_ news: News) async throws {
    let scene = try await HeldScene.waiting()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin; \(scene.sql(news))", on: reactor)
      let claimed = try await service.claim(on: reactor)
      #expect(claimed.flatMap(\.recipients).count == 1)
      try await service.record(claimed, on: reactor) { .sent($0) }
      try await host.run("commit", on: reactor)
    }
    // A deleted message is taken off the screens.
    #expect(try await scene.chat.left() == (news == .deleted ? "1|0" : "0|0"))
    #expect(try await scene.chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  /// Runs the host's statement to its end while another session keeps a lock.
  private func expectUnhindered(_ scene: HeldScene, _ statement: String, by lock: String) async throws {
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await service.run("begin; \(lock)", on: reactor)
      let start = ContinuousClock.now
      try await host.run(statement, on: reactor)
      #expect(ContinuousClock.now - start < Self.bound)
      try await service.run("rollback", on: reactor)
    }
  }
}
