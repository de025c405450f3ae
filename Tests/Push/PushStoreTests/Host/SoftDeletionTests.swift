import Foundation
import Postgres
import TestReactors
import Testing

@testable import PushStore

@Suite("Messages and users that are deleted softly")
struct SoftDeletionTests {
  private static let column = "alter table messages add deleted_at timestamptz"
  private static let deletion = "update messages set deleted_at = now() where id = "

  /// A conversation of a host with the column.
  private static func chat(readers: Int = 1) async throws -> Chat {
    let database = try await TestDatabase.withHostTables()
    try await database.sql("\(column); alter table profiles add deleted_at timestamptz")
    try await database.migrate()
    return try await Chat(readers: readers, in: database)
  }

  @Test("a deleted message has no text, whether it waits or is held, and its hold ends at once")
  func deleted() async throws {
    let chat = try await Self.chat()
    try await chat.see("now()")
    let waiting = try await chat.send()
    try await chat.database.sql("\(Self.deletion) '\(waiting)'")
    let event = try #require(try await claim(chat.database).first)
    #expect(event.message == nil && event.recipients.isEmpty)
    let other = try await Self.chat()
    try await other.see("now()")
    let held = try await other.send()
    try await other.record(try await claim(other.database)) { .held($0, for: .seconds(3600)) }
    #expect(try await claim(other.database).isEmpty)
    try await other.database.sql("\(Self.deletion) '\(held)'")
    #expect(try await other.database.sql("select released_by from tacet.deliveries where due_at <= now()") == "deleted")
    let delivery = try #require(try await claim(other.database).first)
    #expect(delivery.origin == .delivery && delivery.message == nil)
    #expect(try await failures(other.database) == "0")
  }

  @Test("what else changes on a message ends no hold, and one statement that reads and deletes ends each by its cause")
  func causes() async throws {
    let chat = try await Self.chat()
    try await chat.see("now()")
    let messages = [try await chat.send(), try await chat.send(), try await chat.send()]
    try await chat.record(try await claim(chat.database)) { .held($0, for: .seconds(3600)) }
    try await chat.database.sql("update messages set text = 'edited', deleted_at = null")
    let released = "select string_agg(coalesce(released_by, '-'), ' ' order by enqueued_at) from tacet.deliveries"
    #expect(try await chat.database.sql(released) == "- - -")
    try await chat.database.sql(
      """
      update messages set
        deleted_at = case when id = '\(messages[0])' then now() end,
        read_by = case when id = '\(messages[1])' then array['\(chat.reader)'::uuid] else read_by end
      """)
    #expect(try await chat.database.sql(released) == "deleted read -")
  }

  @Test("a deleted message is not counted as unread, and no mark stands at it")
  func unread() async throws {
    let chat = try await Self.chat()
    let reader = chat.reader
    let count = "select tacet.unread_count('\(reader)')"
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id, text, read_by, created_at)
      select '\(chat.id)', '\(chat.sender)', 'x', array['\(reader)'::uuid], now() - n * interval '1 hour'
      from generate_series(1, 40) n
      """)
    let old = try await chat.send("'old'", ["created_at": "now() - interval '39.5 hours'"])
    try await chat.send()
    #expect(try await chat.database.sql(count) == "2")
    try await chat.database.sql("\(Self.deletion) '\(old)'")
    #expect(try await chat.database.sql(count) == "1")
    try await withStore(chat.database) { try await $0.moveUnreadMarks(of: [reader], on: $1) }
    #expect(
      try await chat.database.sql("select read_until > now() - interval '11 minutes' from tacet.unread_marks") == "t")
    #expect(try await chat.database.sql(count) == "1")
  }

  @Test("an app may report that it has read up to a deleted message")
  func readUpTo() async throws {
    let chat = try await Self.chat()
    try await chat.send("'first'", ["created_at": "now() - interval '1 minute'"])
    let last = try await chat.send()
    try await chat.database.sql("\(Self.deletion) '\(last)'")
    let report = ReadReport(conversationID: chat.id, userID: chat.reader, upToMessageID: last)
    let answer = try await withStore(chat.database) { try await $0.read(report, isSynced: false, on: $1) }
    #expect(answer == .marked(count: 2, badge: 0, syncWait: nil))
  }

  @Test("a deleted user gets no push")
  func user() async throws {
    let chat = try await Self.chat(readers: 2)
    for reader in chat.readers { try await chat.register("\(reader)", of: reader) }
    try await chat.database.sql("update profiles set deleted_at = now() where id = '\(chat.readers[1])'")
    try await chat.send()
    let event = try #require(try await claim(chat.database).first)
    #expect(event.recipients.map(\.targets.count) == [1, 0])
  }

  @Test("a column that comes or goes later is taken up by the next tacet migrate, which the doctor asks for")
  func later() async throws {
    let database = try await TestDatabase.migrated()
    try await database.migrate()
    let before = try await database.dumpSchema()
    #expect(try await outdated(database) == [])
    try await database.sql(Self.column)
    #expect(try await outdated(database) == ["badges", "contract_messages", "reading"])
    try await database.migrate()
    #expect(try await outdated(database) == [])
    let bodies =
      "select count(*) from pg_proc where pronamespace = 'tacet'::regnamespace and prosrc like '%deleted_at is null%'"
    #expect(try await database.sql(bodies) == "4")
    let arguments = "select encode(tgargs, 'escape') from pg_trigger where tgname = 'tacet_message_read'"
    #expect(try await database.sql(arguments) == #"read\000deleted_at\000"#)
    try await database.sql("alter table messages drop column deleted_at")
    try await database.migrate()
    #expect(try await database.sql(bodies) == "0")
    #expect(try await database.dumpSchema() == before)
  }

  @Test("a table that comes later ends the inertness of what reads it, by the next tacet migrate")
  func laterTable() async throws {
    let database = try await TestDatabase.withHostTables()
    try await database.sql("alter table push_tokens rename to phones")
    try await database.migrate()
    let inert = "select count(*) from pg_proc where prosrc like '% -- inert'"
    #expect(try await database.sql(inert) == "6")
    try await database.sql(
      """
      create table push_tokens (
        user_id uuid, device_token text, platform text, registered_at timestamptz, invalidated_at timestamptz, environment text,
        app text, invalidation_reason text, locale text, time_zone text
      )
      """)
    #expect(try await outdated(database).contains("contract_devices"))
    try await database.migrate()
    #expect(try await database.sql(inert) == "0")
    #expect(try await outdated(database) == [])
  }

  @Test("a function of the host stays, with the column or without it")
  func hosts() async throws {
    let chat = try await Self.chat()
    try await chat.database.sql(
      "create or replace function tacet.unread_count(user_id uuid) returns bigint language sql stable as 'select 7::bigint'"
    )
    try await chat.database.sql("alter table messages drop column deleted_at")
    try await chat.database.migrate()
    #expect(try await chat.database.sql("select tacet.unread_count(null)") == "7")
  }

  private func outdated(_ database: TestDatabase) async throws -> [String] {
    try await onReactor { reactor in
      let session = try await Session.open(database, on: reactor)
      defer { session.connection.close(on: reactor) }
      return try await DatabaseExamination(over: session.connection).outdatedFunctions(on: reactor)
    }
  }
}
