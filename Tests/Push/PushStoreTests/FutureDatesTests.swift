import Foundation
import PushRules
import Testing

@testable import PushStore

@Suite("Dates that a host's users write")
struct FutureDatesTests {
  private func situation(_ chat: Chat) async throws -> RecipientSituation {
    let event = try #require(try await claim(chat.database).last)
    return try #require(event.recipients.first).situation
  }

  /// A date, and whether it proves presence.
  private static let dates: [(String, Bool)] = [
    ("clock_timestamp()", true), ("now() - interval '59 seconds'", true),
    ("clock_timestamp() + interval '1 minute'", false),
    ("'2099-01-01'", false), ("'294276-12-31'", false), ("'infinity'", false), ("'-infinity'", false),
    ("'4713-01-01 BC'", false),
  ]

  @Test(
    "a look, or a read, of the past minute holds; one of the future, or of no time, proves nothing", arguments: dates)
  func presence(_ date: String, _ holds: Bool) async throws {
    let looking = try await Chat()
    try await looking.see(date)
    try await looking.register("aa")
    try await looking.send()
    let policy = SuppressionPolicy()
    #expect((policy.decision(for: try await situation(looking)) != .send) == holds)
    let reading = try await Chat()
    try await reading.register("bb")
    try await reading.send("'first'", ["updated_at": date, "read_by": "array['\(reading.reader)'::uuid]"])
    try await reading.database.sql("truncate tacet.inbox")
    try await reading.send()
    #expect((policy.decision(for: try await situation(reading)) != .send) == holds)
  }

  @Test("a message dated 2099 is not the newest other message", arguments: ["2099-01-01", "infinity", "294276-12-31"])
  func newestOther(_ date: String) async throws {
    let chat = try await Chat()
    try await chat.send(
      "'seen'", ["read_by": "array['\(chat.reader)'::uuid]", "updated_at": "now() - interval '30 s'"])
    try await chat.send("'trap'", ["created_at": "'\(date)'", "read_by": "'{}'"])
    try await chat.database.sql("truncate tacet.inbox")
    try await chat.send()
    #expect(try #require(try await situation(chat).newestOtherReadAge) >= .seconds(30))
  }

  @Test(
    "a client has left when it said so by now, and after its last look of the past",
    arguments: [
      ("now()", "clock_timestamp()", true), ("now()", "now() + interval '1 hour'", false),
      ("now()", "'infinity'", false),
      ("now() + interval '1 hour'", "now()", false), ("'infinity'", "'infinity'", false),
    ])
  func left(_ lastSeen: String, _ leftAt: String, _ hasLeft: Bool) async throws {
    let chat = try await Chat()
    try await chat.see(lastSeen, left: leftAt)
    try await chat.send()
    #expect(try await situation(chat).hasLeft == hasLeft)
  }

  @Test(
    "seen after it came: a message's own date counts when it lies in the past, and so does the look",
    arguments: [
      ("'2099-01-01'", "clock_timestamp()", true), ("'infinity'", "clock_timestamp()", true),
      ("'-infinity'", "clock_timestamp()", true), ("now() - interval '1 minute'", "clock_timestamp()", true),
      ("now()", "now() + interval '1 hour'", false), ("now()", "'infinity'", false),
    ])
  func sawAfter(_ createdAt: String, _ lastSeen: String, _ isSeen: Bool) async throws {
    let chat = try await Chat()
    try await chat.send("'x'", ["created_at": createdAt])
    try await chat.see(lastSeen)
    #expect(try await situation(chat).sawAfterMessage == isSeen)
  }
}
