import Foundation
import Postgres
import PushRules
import TestIDs
import Testing

@testable import PushStore

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
