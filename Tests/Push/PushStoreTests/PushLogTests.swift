import Foundation
import PushRules
import TestIDs
import TestRepository
import Testing

@Suite("Ledger table")
struct PushLogTests {
  @Test("a deleted profile takes its ledger rows and its remaining work along, and nobody else's")
  func deletedProfile() async throws {
    let chat = try await Chat(readers: 2)
    try await log(chat.readers, in: chat.database)
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    try await erase(chat.database)
    let left = chat.readers[1].text
    #expect(try await chat.database.sql("select user_id from push_log") == left)
    #expect(try await chat.database.sql("select user_id from tacet.deliveries") == left)
  }

  @Test("a profile can be deleted although our side refuses, and the refusal is counted")
  func deletedProfileWithDamage() async throws {
    let chat = try await Chat()
    try await chat.database.sql("drop table tacet.erasures cascade; delete from profiles where id = '\(chat.reader)'")
    #expect(try await failures(chat.database) == "1")
  }

  @Test("an ordinary role sees nothing, even with the right to select")
  func ordinaryRole() async throws {
    let chat = try await Chat()
    try await log(chat.readers, in: chat.database)
    let role = try await makeRole(
      in: chat.database, "grant all on tacet.push_log to $role; grant usage on schema tacet to $role")
    #expect(try await chat.database.sql("set role \(role); select count(*) from tacet.push_log") == "0")
    #expect(try await chat.database.sql("set role \(role); update tacet.push_log set opened = true returning 1") == "")
    await #expect(throws: (any Error).self) {
      try await chat.database.sql(
        "set role \(role); insert into tacet.push_log (user_id, push_type, decision) \(Self.anyRow)")
    }
  }

  @Test("with auth.uid() a user sees their own rows, and changes none")
  func ownRows() async throws {
    let database = try await TestDatabase.withHostTables()
    try await database.sql(Self.auth)
    try await database.apply(Repository.install)
    let chat = try await Chat(readers: 2, in: database)
    try await log(chat.readers, in: database)
    let role = try await makeRole(
      in: database, "grant all on tacet.push_log, public.push_log to $role; grant usage on schema auth to $role")
    let login = "set role \(role); set request.uid = '\(chat.readers[1])'"
    let own = chat.readers[1].text
    #expect(try await database.sql("\(login); select user_id from push_log") == own)
    #expect(try await database.sql("\(login); update push_log set opened = true returning 1") == "")
    #expect(try await database.sql("\(login); delete from push_log returning 1") == "")
    #expect(try await database.sql("set role \(role); select count(*) from push_log") == "0")
  }

  private static let anyRow = "values (gen_random_uuid(), 'message', 'sent')"

  private static let auth = """
    create schema auth;
    create function auth.uid() returns uuid language sql stable
      as $$ select nullif(current_setting('request.uid', true), '')::uuid $$
    """

  private func log(_ users: [HostID], in database: TestDatabase) async throws {
    for user in users {
      try await database.sql(
        """
        insert into tacet.push_log (user_id, subject_id, push_type, decision)
        values ('\(user)', gen_random_uuid(), 'message', 'held');
        insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state)
        values (now(), now(), gen_random_uuid(), '\(user)', 'message', 'held')
        """)
    }
  }
}
