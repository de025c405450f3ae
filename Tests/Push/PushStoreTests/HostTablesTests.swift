import Foundation
import PushRules
import TestIDs
import TestRepository
import Testing

@testable import PushStore

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
