import Foundation
import Postgres
import Reactors
import Testing

@testable import PushStore

@Suite("What waits for the disk")
struct DurableStatementTests {
  @Test("what users' apps were told is done is on disk, though the session commits without waiting")
  func durable() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withSessions(chat.database, 1) { sessions, reactor in
      let (user, none) = (chat.reader, String?.none)
      let calls: [(PostgresStatement, [any PostgresEncodable])] = [
        (PushStatements.registerDevice, [user, "aa", none, none, none, none, none, 10]),
        (PushStatements.removeDevice, [user, "aa"]),
        (
          PushStatements.putPreferences,
          [user, Int?.none, Int?.none, none, none, [String](), [UUID](), [Bool](), [Int64?](), [Bool]()]
        ),
        (PushStatements.readConversation, [chat.id, user, UUID?.none, none, true]),
      ]
      for (statement, parameters) in calls {
        try await sessions[0].run("set synchronous_commit = off; begin", on: reactor)
        try await sessions[0].connection.query(statement, parameters, on: reactor)
        let setting = try await sessions[0].value("current_setting('synchronous_commit')", on: reactor)
        #expect(setting == "on", "\(statement.name)")
        try await sessions[0].run("commit", on: reactor)
        #expect(try await sessions[0].value("current_setting('synchronous_commit')", on: reactor) == "off")
      }
    }
  }
}
