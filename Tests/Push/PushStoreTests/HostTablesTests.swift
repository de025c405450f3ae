import Foundation
import PushKinds
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
    let participants = (before["conversation_participants"] ?? []) + ["left_at timestamptz"]
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
