import Foundation
import PushRules
import Testing

@testable import PushStore

@Suite("Pushes of other servers in the store")
struct SubmittedPushTests {
  @Test("what a deleted user was to be told goes with the user, and nobody is told; another's stays")
  func forgotten() async throws {
    let chat = try await Chat(readers: 2)
    for user in chat.readers {
      let push = PushSubmission(userID: user, kind: "news", title: "News", body: "of \(user)")
      #expect(try await withStore(chat.database) { try await $0.submit(push, on: $1) } != nil)
    }
    try await chat.database.sql("delete from profiles where id = '\(chat.readers[0])'")
    try await erase(chat.database)
    let left = try await chat.database.sql("select user_id from tacet.pushes")
    #expect(left == chat.readers[1].text)
    let events = try await claim(chat.database)
    #expect(events.count == 2)
    #expect(events.flatMap(\.recipients).map(\.userID) == [chat.readers[1]])
    #expect(try await chat.database.sql("select count(*) from tacet.trigger_failures") == "0")
  }
}
