import Foundation
import Postgres
import PushRules
import Testing

@testable import PushStore

@Suite("Record")
struct PushStatementsRecordTests {
  @Test("a sent push: one ledger row with its times, and the event is done")
  func sent() async throws {
    let chat = try await Chat()
    try await chat.decide { user in
      var outcome = RecipientOutcome(userID: user, decision: .sent, acceptedDevices: ["aa", "bb"])
      outcome.wokenMicroseconds = 100
      outcome.decidedMicroseconds = 20
      outcome.acceptedMicroseconds = 1_500_000
      return outcome
    }
    #expect(try await chat.ledger() == "message|sent|||2|1|100|20|1500000|00:00:01.5||f|notify||{}")
    #expect(try await chat.left() == "0|0")
  }

  @Test("a held push: a ledger row that says until when, and work that becomes due then")
  func held() async throws {
    let chat = try await Chat()
    try await chat.decide {
      RecipientOutcome(userID: $0, decision: .held, reason: "user_viewing", due: .seconds(90), remaining: .held)
    }
    #expect(try await chat.ledger() == "message|held|user_viewing||0|1|0|0||00:01:30||f|notify||{}")
    #expect(try await chat.delivery() == "held|1|00:01:30|{}|t")
    #expect(try await chat.left() == "0|1")
  }

  @Test("a push that reached some devices: sent, and a retry that knows which have it")
  func partlySent() async throws {
    let chat = try await Chat()
    try await chat.decide {
      RecipientOutcome(
        userID: $0, decision: .sent, due: .seconds(2), remaining: .retryable, acceptedDevices: ["aa", "bb"])
    }
    #expect(try await chat.ledger() == "message|sent|||2|1|0|0||||f|notify||{}")
    #expect(try await chat.delivery() == "retryable|1|00:00:02|{aa,bb}|t")
  }

  @Test(
    "nothing to send and nothing to be done: a ledger row with its reason",
    arguments: [
      OutcomeDecision.skipped, .failed,
    ])
  func final(_ decision: OutcomeDecision) async throws {
    let chat = try await Chat()
    try await chat.decide { RecipientOutcome(userID: $0, decision: decision, reason: "because") }
    #expect(try await chat.ledger() == "message|\(decision)|because||0|1|0|0||||f|notify||{}")
    #expect(try await chat.left() == "0|0")
  }

  @Test("an event without recipients is done without a ledger row")
  func nobody() async throws {
    let chat = try await Chat(readers: 0)
    try await chat.decide { RecipientOutcome(userID: $0, decision: .sent) }
    #expect(try await chat.ledger() == "")
    #expect(try await chat.left() == "0|0")
  }

  @Test("a hold that ends is claimed for its recipient alone, and its end replaces the hold in the ledger")
  func holdEnds() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.decide {
      $0 == chat.reader
        ? RecipientOutcome(userID: $0, decision: .held, reason: "user_viewing", due: .zero, remaining: .held)
        : RecipientOutcome(userID: $0, decision: .skipped, reason: "already_read")
    }
    let events = try await claim(chat.database, lease: .zero)
    #expect(events.map(\.origin) == [.delivery])
    #expect(events.map(\.attempts) == [2])
    #expect(events.first?.recipients.map(\.userID) == [chat.reader])
    try await chat.decide { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    let decisions = "select decision, reason, held_until, devices_accepted from tacet.push_log order by decision desc"
    #expect(try await chat.database.sql(decisions) == "skipped|already_read||0\nsent|||1")
    #expect(try await chat.left() == "0|0")
  }

  @Test("a retry leaves alone the devices that have the push, and counts them")
  func retry() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.register("bb")
    try await chat.decide {
      RecipientOutcome(userID: $0, decision: .sent, due: .zero, remaining: .retryable, acceptedDevices: ["aa"])
    }
    let event = try #require(try await claim(chat.database, lease: .zero).first)
    let recipient = try #require(event.recipients.first)
    #expect(recipient.targets.map(\.address) == ["bb"])
    #expect(recipient.acceptedDevices == ["aa"])
    #expect(recipient.situation.deviceCount == 2)
  }

  @Test("work that remains for somebody who left, or of a deleted message, still comes with its recipient")
  func remainingWithoutParticipant() async throws {
    let chat = try await Chat()
    try await chat.decide { RecipientOutcome(userID: $0, decision: .held, due: .zero, remaining: .held) }
    try await chat.database.sql("delete from conversation_participants where user_id = '\(chat.reader)'")
    let gone = try #require(try await claim(chat.database, lease: .zero).first?.recipients.first)
    #expect(gone.userID == chat.reader)
    #expect(!gone.isParticipant)
    #expect(!gone.situation.isDeleted)
    try await chat.database.sql("delete from messages")
    let deleted = try #require(try await claim(chat.database, lease: .zero).first?.recipients.first)
    #expect(deleted.userID == chat.reader)
    #expect(deleted.situation.isDeleted)
  }

  @Test("a batch that fails in one place changes nothing anywhere")
  func atomic() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.register("aa", ["registered_at": "now() - interval '1 day'"])
    try await chat.send()
    try await chat.send()
    try await chat.database.sql("alter table tacet.push_log add check (reason <> 'poison')")
    let events = try await claim(chat.database)
    let dead = [DeadTarget(address: "aa", reason: "gone", invalidSince: .max / 4)]
    await #expect(throws: PostgresError.self) {
      try await chat.record(events, dead: dead) { user in
        RecipientOutcome(
          userID: user, decision: .held, reason: user == chat.reader ? "poison" : "fine", due: .zero, remaining: .held)
      }
    }
    #expect(try await chat.ledger() == "")
    #expect(try await chat.left() == "2|0")
    #expect(try await chat.database.sql("select count(*) from push_tokens where invalidated_at is null") == "1")
  }

  @Test("durations and counts beyond the ledger's columns are cut, not refused")
  func extremes() async throws {
    let chat = try await Chat()
    try await chat.send()
    try await chat.database.sql("update tacet.inbox set attempts = 70000")
    let events = try await claim(chat.database)
    try await chat.record(events) {
      var outcome = RecipientOutcome(userID: $0, decision: .sent)
      outcome.wokenMicroseconds = 10_000_000_000
      outcome.decidedMicroseconds = 10_000_000_000
      outcome.acceptedMicroseconds = 10_000_000_000
      return outcome
    }
    let columns = "woken_microseconds, decided_microseconds, accepted_microseconds, attempts"
    let row = try await chat.database.sql("select \(columns) from tacet.push_log")
    #expect(row == "2147483647|2147483647|2147483647|32767")
    #expect(try await chat.left() == "0|0")
  }

  @Test("devices that wait for longer than their recipient are recorded, and come back with the claim")
  func deviceWaits() async throws {
    let chat = try await Chat()
    try await chat.register("aa")
    try await chat.send()
    let waits = ["aa": DeviceWait(until: 1_800_000_000_000_000, reason: "http_429, \"odd\"")]
    try await chat.retry(try await claim(chat.database), waits: waits)
    let delivery = try await claim(chat.database)
    #expect(delivery.map(\.recipients[0].deviceWaits) == [waits])
    try await chat.retry(delivery, waits: [:])
    #expect(try await claim(chat.database).map(\.recipients[0].deviceWaits) == [[:]])
  }

  @Test("a thousand events are recorded at once")
  func many() async throws {
    let chat = try await Chat(readers: 2)
    try await chat.database.sql(
      """
      insert into messages (conversation_id, from_id)
      select '\(chat.id)', '\(chat.sender)' from generate_series(1, 1000)
      """)
    let events = try await claim(chat.database)
    try await chat.record(events) { RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["aa"]) }
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where devices_accepted = 1") == "2000")
    #expect(try await chat.left() == "0|0")
  }
}
