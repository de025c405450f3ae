import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
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
      let calls: [StatementCall] = [
        .registerDevice(
          userID: user, deviceToken: "aa", environment: none, app: none, platform: none, locale: none, timeZone: none,
          authStatus: none, wishes: "{}", devicesMax: 10),
        .removeDevice(userID: user, deviceToken: "aa"),
        .putPreferences(
          userID: user, quietStart: Int?.none, quietEnd: Int?.none, quietZone: none, quietPolicy: none,
          disabledKinds: [String](), conversationIDs: [HostID](), muted: [Bool](), mutedUntilMicroseconds: [Int64?](),
          mentionsOnly: [Bool](), content: none, unreadKinds: [String](), unreadSeconds: [Int64?]()),
        .reportSlotAction(
          userID: user, eventID: UUID(), action: "OPEN", identifier: "daily.0800.2026-11-22", campaign: "daily",
          slot: "0800", fireDate: "2026-11-22", happenedMicroseconds: Int64(0)),
        .reportSlotEvents(
          userID: user, ids: [UUID](), codes: [String](), identifiers: [String?](), campaigns: [String?](),
          slots: [String?](), fireDates: [String?](), deviceTokens: [String?](), circumstances: [String](),
          happenedMicroseconds: [Int64]()),
        .readConversation(
          conversationID: chat.id, userID: user, messageID: HostID?.none, deviceToken: none, isSynced: true),
      ]
      for call in calls {
        try await sessions[0].run("set synchronous_commit = off; begin", on: reactor)
        try await sessions[0].connection.query(call, on: reactor)
        let setting = try await sessions[0].value("current_setting('synchronous_commit')", on: reactor)
        #expect(setting == "on", "\(call.statement.name)")
        try await sessions[0].run("commit", on: reactor)
        #expect(try await sessions[0].value("current_setting('synchronous_commit')", on: reactor) == "off")
      }
    }
  }
}
