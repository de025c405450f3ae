import Foundation
import Testing

@testable import PushStore

@Suite("Record: twice, late, and of dead tokens")
struct RecordedAgainTests {
  @Test(
    "a claim that was recorded decides nothing more, except that a later acceptance counts",
    arguments: [
      (OutcomeDecision.skipped, OutcomeDecision.failed, "skipped|first"), (.failed, .skipped, "failed|first"),
      (.sent, .failed, "sent|first"), (.sent, .skipped, "sent|first"), (.sent, .held, "sent|first"),
      (.failed, .sent, "sent|second"), (.skipped, .sent, "sent|second"), (.held, .sent, "sent|second"),
      (.held, .skipped, "held|first"), (.held, .failed, "held|first"),
    ])
  func firstFinal(_ first: OutcomeDecision, _ second: OutcomeDecision, _ kept: String) async throws {
    let chat = try await Chat()
    try await chat.send()
    let events = try await claim(chat.database)
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: first, reason: "first") }
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: second, reason: "second") }
    #expect(try await chat.database.sql("select decision, reason from tacet.push_log") == kept)
  }

  @Test("a later acceptance counts more devices, never fewer, and keeps the time of the first")
  func laterAcceptance() async throws {
    let chat = try await Chat()
    try await chat.send()
    let events = try await claim(chat.database)
    for (devices, microseconds) in [(["aa"], 1000), (["aa", "bb"], 9000), ([], 5000)] as [([String], Int64)] {
      try await chat.record(events) {
        var outcome = RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: devices)
        outcome.acceptedMicroseconds = microseconds
        return outcome
      }
    }
    #expect(
      try await chat.database.sql("select devices_accepted, sent_at - claimed_at from tacet.push_log")
        == "2|00:00:00.001")
  }

  @Test("a finisher whose lease ran out does not end the claim of its successor")
  func fenced() async throws {
    let chat = try await Chat()
    try await chat.send()
    let stale = try await claim(chat.database, lease: .zero)
    let present = try await claim(chat.database)
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "1|0")
    try await chat.record(present) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "0|0")
  }

  @Test(
    "a dead token is dropped unless it was registered again since",
    arguments: [("now() - interval '1 h'", "410 gone"), ("now() + interval '1 h'", "")])
  func deadToken(_ registered: String, _ reason: String) async throws {
    let chat = try await Chat()
    try await chat.register("aa", ["registered_at": registered])
    try await chat.register("bb")
    let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
    try await chat.send()
    let dead = [DeadTarget(address: "aa", reason: "410 gone", invalidSince: now)]
    try await chat.record(try await claim(chat.database), dead: dead) {
      RecipientOutcome(userID: $0, decision: .failed)
    }
    let dropped = "select coalesce(invalidation_reason, '') from push_tokens where device_token = 'aa'"
    #expect(try await chat.database.sql(dropped) == reason)
    #expect(
      try await chat.database.sql(
        "select count(*) from push_tokens where invalidated_at is null and device_token = 'bb'") == "1")
  }
}
