import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Users who are gone from auth.users alone", .uuidsOnly)
struct GoneUsersTests {
  @Test("are found, a few at a time, and forgotten")
  func goneFromLogins() async throws {
    let chat = try await Chat(readers: 3)
    try await makeLogins(of: [chat.sender, chat.readers[1]], in: chat.database)
    try await fillPreferences(chat)
    #expect(try await findGone(chat.database, usersMax: 2) == 1)
    #expect(try await findGone(chat.database, usersMax: 2) == 1)
    #expect(try await chat.database.sql("select count(*) from tacet.erasures") == "2")
    _ = try await erase(chat.database)
    #expect(
      try await chat.database.sql("select user_id from tacet.preferences") == chat.readers[1].text)
  }

  @Test("are nobody where there is no auth.users, and where its ids are others")
  func nobodyGone() async throws {
    let chat = try await Chat(readers: 2)
    try await fillPreferences(chat)
    #expect(try await findGone(chat.database) == 0)
    try await makeLogins(of: [HostID.new()], in: chat.database)
    #expect(try await findGone(chat.database) == 0)
    #expect(try await chat.database.sql("select count(*) from tacet.erasures") == "0")
  }

  private func makeLogins(of users: [HostID], in database: TestDatabase) async throws {
    try await database.sql(
      """
      create schema auth; create table auth.users (id uuid primary key);
      insert into auth.users values \(users.map { "('\($0)')" }.joined(separator: ", "))
      """)
  }

  private func fillPreferences(_ chat: Chat) async throws {
    let rows = chat.readers.map { "('\($0)')" }.joined(separator: ", ")
    try await chat.database.sql("insert into tacet.preferences (user_id) values \(rows)")
  }

  /// - Returns: batches after which there may be more.
  private func findGone(_ database: TestDatabase, usersMax: Int = 100) async throws -> Int {
    try await withStore(database) { store, reactor in
      var last: HostID?
      var batches = 0
      while let next = try await store.queueGoneUsers(after: last, usersMax: usersMax, on: reactor) {
        last = next
        batches += 1
      }
      return batches
    }
  }
}
