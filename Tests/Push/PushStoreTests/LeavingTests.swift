import Foundation
import PushRules
import Testing

@testable import PushStore

@Suite("Leaving a conversation")
struct LeavingTests {
  /// The last look, whether the other message was read, and leaving; how long ago.
  private static let signs: [(seen: String?, isReader: Bool, left: String?, hasLeft: Bool)] = [
    ("10 s", false, "5 s", true), ("10 s", false, "10 s", true), ("10 s", false, "20 s", false),
    ("10 s", false, nil, false), ("30 s", true, "25 s", true), (nil, true, "5 s", true), (nil, true, "15 s", true),
    (nil, true, "20 s", false), (nil, true, nil, false), (nil, false, "5 s", false),
  ]

  @Test(
    "leaving counts since the last look, or, where no look was ever reported, since the other message was read",
    arguments: signs)
  func left(_ seen: String?, _ isReader: Bool, _ left: String?, _ hasLeft: Bool) async throws {
    let chat = try await Chat()
    let other = try await chat.send()
    try await chat.record(try await claim(chat.database)) { RecipientOutcome(userID: $0, decision: .sent) }
    try await chat.database.sql(
      """
      begin;
      \(isReader ? "update messages set read_by = array['\(chat.reader)']::uuid[] where id = '\(other)';" : "")
      update messages set updated_at = now() - interval '15 s', created_at = now() - interval '1 h';
      update conversation_participants
      set last_seen = now() - interval '\(seen ?? "0 s")', tacet_left_at = now() - interval '\(left ?? "0 s")';
      update conversation_participants
      set last_seen = \(seen == nil ? "null" : "last_seen"), tacet_left_at = \(left == nil ? "null" : "tacet_left_at");
      commit
      """)
    try await chat.send()
    let claimed = try await claim(chat.database)
    #expect(claimed.flatMap(\.recipients).map(\.situation.hasLeft) == [hasLeft])
    try await chat.record(claimed) { .held($0) }
    let hold = RecordedHold(subject: try #require(claimed.first).subject, userID: chat.reader)
    #expect(try await withStore(chat.database) { try await $0.review([hold], on: $1).released } == (hasLeft ? 1 : 0))
  }
}
