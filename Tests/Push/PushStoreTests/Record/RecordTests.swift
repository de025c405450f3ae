import Foundation
import Postgres
import PushRules
import TestIDs
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

@Suite("A record of what is over")
struct RecordFinishedTests {
  /// What both records write of the same claim.
  private static let written = """
    select subject_id, user_id, push_type, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
      woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by, content, id,
      history
    from tacet.push_log order by user_id
    """

  @Test("it writes what the record of everything writes, to the ledger and to rows that are there", .uuidsOnly)
  func same() async throws {
    let chat = try await Chat(readers: 4)
    try await chat.send()
    try await withSessions(chat.database, 1) { sessions, reactor in
      let session = sessions[0]
      let claimed = try await session.claim(on: reactor)
      var decided = claimed.map { Self.decided($0, by: chat.readers) }
      decided[0].decider = Decider(instance: "1a2b")
      var results: [String] = []
      let columns = RecordColumns(decided)
      for call in [columns.record, columns.recordFinished] {
        try await session.run("begin", on: reactor)
        try await session.run(
          """
          insert into tacet.push_log (id, enqueued_at, subject_id, user_id, push_type, decision, reason)
          values ('\(chat.id)', 'epoch', '\(claimed[0].subject.id)', '\(chat.readers[3])', 'message', 'held', 'user_viewing')
          """, on: reactor)
        let rows = try await session.connection.query(call, on: reactor)
        #expect(rows.count == 1)
        results.append(try await session.rows(Self.written, on: reactor))
        #expect(try await session.rows("select from tacet.inbox", on: reactor) == "")
        try await session.run("rollback", on: reactor)
      }
      #expect(results[0] == results[1])
      #expect(results[0].split(separator: "\n").count == 4)
    }
  }

  /// A decision of each kind, with values that the columns do not hold.
  private static func decided(_ event: PushEvent, by readers: [HostID]) -> DecidedEvent {
    let outcomes = event.recipients.map { recipient in
      var outcome: RecipientOutcome =
        switch readers.firstIndex(of: recipient.userID) {
        case 0: .sent(recipient.userID, to: ["aa", "bb"])
        case 1: .skipped(recipient.userID)
        case 2: RecipientOutcome(userID: recipient.userID, decision: .failed, reason: "no_device")
        default: .sent(recipient.userID, to: [])
        }
      outcome.wokenMicroseconds = 1 << 40
      outcome.decidedMicroseconds = 12
      outcome.acceptedMicroseconds = outcome.decision == .sent ? 3_000_000 : nil
      outcome.recipient = recipient
      return outcome
    }
    return DecidedEvent(event: event, outcomes: outcomes, deadTargets: [], wokenBy: "notify")
  }

  @Test("an event that somebody else has claimed is left whole to the other record")
  func stale() async throws {
    let chat = try await Chat()
    let (lost, kept) = (try await chat.send(), try await chat.send())
    try await withTwoSessions(chat.database) { late, successor, reactor in
      let stale = try await late.claim(lease: .zero, on: reactor)
      #expect(stale.count == 2)
      try await successor.run(
        "update tacet.inbox set available_at = now() + interval '1 h' where subject_id = '\(kept)'", on: reactor)
      #expect(try await successor.claim(on: reactor).map(\.subject.id) == [lost])
      try await late.record(stale, on: reactor) { .skipped($0) }
      #expect(
        try await late.rows("select subject_id from tacet.push_log", on: reactor)
          == "(\(kept.text))")
      #expect(
        try await late.rows("select subject_id from tacet.inbox", on: reactor) == "(\(lost.text))")
      // What was sent is written down, whoever's the event is.
      try await late.record(stale, on: reactor) { .sent($0) }
      #expect(try await late.rows("select from tacet.push_log where decision = 'sent'", on: reactor) == "()\n()")
      #expect(
        try await late.rows("select subject_id from tacet.inbox", on: reactor) == "(\(lost.text))")
    }
  }

  @Test(
    "a record that meets the claim of its successor waits for it, and yields if that is committed",
    arguments: [true, false])
  func duringClaim(_ isCommitted: Bool) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withTwoSessions(chat.database) { successor, late, reactor in
      let claimed = try await late.claim(lease: .zero, on: reactor)
      try await successor.run("begin", on: reactor)
      #expect(try await successor.claim(on: reactor).map(\.attempts) == [2])
      let record = Begun.begin(on: reactor) { try await late.record(claimed, on: reactor) { .skipped($0) } }
      try await successor.awaitBlocked(late, on: reactor)
      try await successor.run(isCommitted ? "commit" : "rollback", on: reactor)
      try await record.value(on: reactor)
    }
    #expect(try await chat.left() == (isCommitted ? "1|0" : "0|0"))
    #expect(try await chat.database.sql("select decision from tacet.push_log") == (isCommitted ? "" : "skipped"))
  }

  @Test(
    "of two records of one claim the second waits and adds nothing, unless the first is rolled back",
    arguments: [true, false])
  func twice(_ isCommitted: Bool) async throws {
    let chat = try await Chat()
    try await chat.send()
    try await withTwoSessions(chat.database) { first, second, reactor in
      let claimed = try await first.claim(on: reactor)
      try await first.beginRecord(claimed, on: reactor) { .skipped($0) }
      let again = Begun.begin(on: reactor) {
        try await second.record(claimed, on: reactor) { RecipientOutcome(userID: $0, decision: .failed) }
      }
      try await first.awaitBlocked(second, on: reactor)
      try await first.run(isCommitted ? "commit" : "rollback", on: reactor)
      try await again.value(on: reactor)
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select decision from tacet.push_log") == (isCommitted ? "skipped" : "failed"))
  }

  @Test("records of the same events in opposite orders do not wait for each other in a circle")
  func oppositeOrders() async throws {
    let chat = try await Chat()
    for _ in 0..<40 { try await chat.send() }
    try await withSessions(chat.database, 3) { sessions, reactor in
      for session in sessions { try await session.planNestedLoops(on: reactor) }
      let claimed = try await sessions[0].claim(on: reactor)
      #expect(claimed.count == 40)
      let middle = try #require(claimed.map(\.subject.id.text).sorted().dropFirst(20).first)
      try await recordInBothOrders(
        claimed, in: sessions, heldBackBy: "update tacet.inbox set error = 'x' where subject_id = '\(middle)'",
        on: reactor)
    }
    #expect(try await chat.left() == "0|0")
    #expect(try await chat.database.sql("select count(*) from tacet.push_log where decision = 'sent'") == "40")
  }
}

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
