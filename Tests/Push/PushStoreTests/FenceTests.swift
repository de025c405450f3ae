import Foundation
import PushRules
import TestIDs
import Testing

@testable import PushStore

@Suite("Whose claim it is")
struct FenceTests {
  private func held(_ user: HostID) -> RecipientOutcome {
    RecipientOutcome(userID: user, decision: .held, reason: "user_viewing", due: .zero, remaining: .held)
  }

  /// A delivery that was claimed twice: by somebody whose lease ran out, and then again.
  private func claimedTwice() async throws -> (chat: Chat, stale: [PushEvent], present: [PushEvent]) {
    let chat = try await Chat()
    try await chat.decide { self.held($0) }
    let stale = try await claim(chat.database, lease: .zero)
    return (chat, stale, try await claim(chat.database))
  }

  @Test("a late finisher of a delivery changes nothing, except that what was sent was sent")
  func lateDelivery() async throws {
    let (chat, stale, present) = try await claimedTwice()
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .skipped, reason: "already_read") }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "held")
    #expect(try await chat.left() == "0|1")
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
    #expect(try await chat.left() == "0|1")
    try await chat.record(present) { self.held($0) }
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
    #expect(try await chat.left() == "0|0", "nothing remains for somebody who has it")
  }

  @Test("a device that a late finisher has reached is not reached again")
  func lateDevices() async throws {
    let (chat, stale, present) = try await claimedTwice()
    try await chat.register("aa")
    try await chat.register("bb")
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    try await chat.record(present) {
      RecipientOutcome(userID: $0, decision: .sent, due: .zero, remaining: .retryable, acceptedDevices: ["bb"])
    }
    let recipient = try #require(try await claim(chat.database).first?.recipients.first)
    #expect(recipient.targets.isEmpty)
    #expect(Set(recipient.acceptedDevices) == ["aa", "bb"])
  }

  @Test("a late hold does not move the due time of the present claim")
  func lateHold() async throws {
    let (chat, stale, _) = try await claimedTwice()
    let due = "select due_at, attempts, is_claimed from tacet.deliveries"
    let before = try await chat.database.sql(due)
    try await chat.record(stale) { self.held($0) }
    #expect(try await chat.database.sql(due) == before)
  }

  @Test("a late hold of an event that was recorded meanwhile leaves no work")
  func lateEvent() async throws {
    let chat = try await Chat()
    try await chat.send()
    let stale = try await claim(chat.database, lease: .zero)
    try await chat.record(try await claim(chat.database)) { RecipientOutcome(userID: $0, decision: .sent) }
    try await chat.record(stale) { self.held($0) }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select decision from tacet.push_log") == "sent")
  }

  @Test("a recorded part of an event is no longer the finisher's to end")
  func parts() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.send()
    var limits = ClaimLimits(eventsMax: 1, deliveriesMax: 1, lease: .zero)
    limits.recipientsMax = 1
    let parts = limits
    func claimPart() async throws -> [PushEvent] {
      try await withStore(chat.database) { try await $0.claim(parts, on: $1) }
    }
    let stale = try await claimPart()
    #expect(stale.map(\.hasMore) == [true])
    let first = try await claimPart()
    try await chat.record(first) { RecipientOutcome(userID: $0, decision: .sent) }
    let second = try await claimPart()
    #expect(second.first?.recipients.count == 1)
    #expect(second.first?.recipients != first.first?.recipients)
    try await chat.record(stale) { RecipientOutcome(userID: $0, decision: .skipped) }
    #expect(try await chat.database.sql("select is_claimed, rescues from tacet.inbox") == "t|0")
    try await chat.record(second) { RecipientOutcome(userID: $0, decision: .sent) }
    let last = try await claimPart()
    #expect(last.map(\.recipients) == [[]])
    #expect(last.map(\.hasMore) == [false])
    try await chat.record(last) { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "2")
  }

  @Test("the time a push was held counts, over several holds and not beyond them")
  func heldFor() async throws {
    let chat = try await Chat()
    try await chat.decide { self.held($0) }
    func age(_ interval: String) async throws {
      try await chat.database.sql(
        """
        update tacet.deliveries set since = since - interval '\(interval)', enqueued_at = enqueued_at - interval '\(interval)'
        """)
    }
    func heldSeconds(_ events: [PushEvent]) throws -> Int64 {
      try #require(events.first?.recipients.first).situation.heldFor.components.seconds
    }
    try await age("40 s")
    let first = try await claim(chat.database, lease: .zero)
    #expect(try heldSeconds(first) == 40)
    try await chat.record(first) {
      var outcome = self.held($0)
      outcome.heldFor = .seconds(40)
      return outcome
    }
    try await age("20 s")
    let second = try await claim(chat.database, lease: .zero)
    #expect(try heldSeconds(second) == 60)
    try await chat.record(second) {
      var outcome = RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .retryable)
      outcome.heldFor = .seconds(60)
      return outcome
    }
    try await age("100 s")
    let third = try await claim(chat.database, lease: .zero)
    #expect(try heldSeconds(third) == 60)
    let recipient = try #require(third.first?.recipients.first)
    #expect(recipient.situation.messageAge >= .seconds(160))
  }
}
